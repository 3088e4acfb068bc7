//! Checks the documents against the repository: their links and the index of failures.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Finds the files below a folder by the end of their names. Does not follow links.
fn files(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = entry.file_name().into_string().unwrap();
        if kind.is_dir() && !name.starts_with('.') && !["target", "node_modules"].contains(&&*name)
        {
            files(&path, ending, into);
        } else if kind.is_file() && name.ends_with(ending) {
            into.push(path);
        }
    }
}

/// The anchor that GitHub makes from a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

fn has_heading(text: &str, wanted: &str) -> bool {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|heading| heading == wanted)
}

#[test]
fn every_link_leads_somewhere() {
    let mut documents = Vec::new();
    files(root(), ".md", &mut documents);
    assert!(documents.len() > 15);
    let mut broken = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { document.clone() } else { document.with_file_name(path) };
            let leads = target.exists()
                && (heading.is_empty()
                    || has_heading(&fs::read_to_string(target).unwrap(), heading));
            if !leads {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_index_of_failures_names_every_test() {
    let mut sources = Vec::new();
    files(root(), ".rs", &mut sources);
    let mut tried: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let name = source.strip_prefix(root()).unwrap().with_extension("");
        let name = name.to_str().unwrap().trim_start_matches("crates/").to_owned();
        for function in fs::read_to_string(source).unwrap().split("fn ").skip(1) {
            let number = function.get(..4).filter(|word| {
                word.starts_with('b')
                    && word.ends_with('_')
                    && word[1..3].bytes().all(|byte| byte.is_ascii_digit())
            });
            if let Some(number) = number {
                tried.entry(number[..3].to_uppercase()).or_default().insert(name.clone());
            }
        }
    }
    let index = fs::read_to_string(root().join("docs/failures.md")).unwrap();
    let rows = index.lines().filter(|line| line.starts_with("| B"));
    for row in rows {
        let cells: Vec<_> = row.split(" | ").collect();
        let (id, tests) = (&cells[0][2..], cells[3].trim_end_matches(" |"));
        let named = tests.split(", ").map(|name| name.trim_matches('`').to_owned());
        // One failure has no test; the build for another system covers it.
        let expected = tried.remove(id);
        assert_eq!(expected.is_none(), tests.contains(".ci/run"), "{id}");
        assert!(expected.is_none_or(|expected| expected == named.collect()), "{id}: {tests}");
    }
    assert!(tried.is_empty(), "these are not in docs/failures.md: {tried:?}");
}
