//! Removes this program's hooks from JSON settings. The parser's positions are used to cut them
//! out, so that all comments and spaces of the user stay.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::hooks::{Hooks, OPTIONS};

/// A text and its replacements, each with start, end and new text.
struct Removal<'a> {
    hooks: &'a Hooks,
    text: &'a str,
    edits: Vec<(usize, usize, String)>,
}

/// The settings without the hooks of any version of this program.
pub(super) fn remove(hooks: &Hooks, text: &str) -> Result<String, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    let value = parsed.map_err(|error| error.to_string())?.value;
    let Some(Value::Object(root)) = &value else { return Ok(text.to_owned()) };
    let mut removal = Removal { hooks, text, edits: Vec::new() };
    let goes =
        |removal: &mut Removal<'_>, name: &str, value: &Value<'_>| match hooks.agent.statusline() {
            _ if name == "hooks" => removal.prune(value),
            [first, path @ ..] if name == *first => removal.statusline(value, path),
            _ => false,
        };
    removal.properties(root, goes);
    Ok(removal.finish())
}

impl Removal<'_> {
    /// Removes the hooks from a value. Returns whether nothing else was in it.
    fn prune(&mut self, value: &Value) -> bool {
        match value {
            Value::Object(object) if self.is_ours(object) => true,
            Value::Object(object) => {
                let goes = self.properties(object, |this, _, value| this.prune(value));
                // A group without hooks has no use.
                let of_group = |(property, goes): (&ObjectProp, &bool)| {
                    *goes && property.name.as_str() == "hooks"
                };
                object.properties.iter().zip(&goes).any(of_group)
                    || self.is_all(object.range, &object.properties, &goes)
            }
            Value::Array(array) => {
                let goes: Vec<_> = array.elements.iter().map(|item| self.prune(item)).collect();
                self.items(array.range.end, &array.elements, &goes);
                self.is_all(array.range, &array.elements, &goes)
            }
            _ => false,
        }
    }

    /// Whether this is a hook and calls this program.
    fn is_ours(&self, hook: &Object) -> bool {
        let texts = hook.properties.iter().filter_map(|property| property.value.as_string_lit());
        texts.into_iter().any(|text| self.hooks.calls_us(&text.value))
    }

    /// Restores the previous command of the status line. Returns whether there was none.
    fn statusline(&mut self, value: &Value, path: &[&str]) -> bool {
        let Value::Object(object) = value else { return false };
        if let [first, path @ ..] = path {
            self.properties(object, |this, name, value| {
                name == *first && this.statusline(value, path)
            });
            return false;
        }
        let Some(command) = object.get_string("command") else { return false };
        match Hooks::before_ours(&command.value) {
            None => false,
            Some(before) if before.is_empty() => true,
            Some(before) => {
                let before = serde_json::Value::from(before).to_string();
                self.edits.push((command.range.start, command.range.end, before));
                false
            }
        }
    }

    /// Removes the properties that have become empty, and returns which those are.
    fn properties(
        &mut self,
        object: &Object,
        mut goes: impl FnMut(&mut Self, &str, &Value) -> bool,
    ) -> Vec<bool> {
        let properties = object.properties.iter();
        let goes: Vec<_> = properties.map(|it| goes(self, it.name.as_str(), &it.value)).collect();
        self.items(object.range.end, &object.properties, &goes);
        goes
    }

    /// Whether everything in a list is removed, comments included.
    fn is_all(&self, list: Range, items: &[impl Ranged], goes: &[bool]) -> bool {
        let mut at = list.start;
        let ends = items.iter().map(|item| (item.range().start, item.range().end));
        let is_bare = ends.chain([(list.end, list.end)]).all(|(start, end)| {
            let gap = &self.text[at..start];
            at = end;
            !gap.contains("//") && !gap.contains("/*")
        });
        !goes.is_empty() && goes.iter().all(|goes| *goes) && is_bare
    }

    /// Removes items from a list, each with its comma.
    fn items(&mut self, end: usize, items: &[impl Ranged], goes: &[bool]) {
        let mut commas: Vec<_> = items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let next = items.get(index + 1).map_or(end, |next| next.range().start);
                self.comma(item.range().end, next)
            })
            .collect();
        for (index, item) in items.iter().enumerate().filter(|(index, _)| goes[*index]) {
            let mut cut = (item.range().start, item.range().end);
            // The last item has no comma after it.
            let comma = commas[index].take();
            let comma = comma.or_else(|| commas[..index].iter_mut().rev().find_map(Option::take));
            if let Some(comma) = comma {
                if comma == cut.1 {
                    cut.1 += 1;
                } else {
                    self.edits.push((comma, comma + 1, String::new()));
                }
            }
            let (start, end) = self.lines(cut);
            self.edits.push((start, end, String::new()));
        }
    }

    /// The position of the comma between two items, outside comments.
    fn comma(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while at < to {
            let rest = &self.text[at..to];
            let comment = match rest.get(..2) {
                Some("//") => rest.find('\n'),
                Some("/*") => rest.find("*/").map(|end| end + 2),
                _ if rest.starts_with(',') => return Some(at),
                _ => rest.chars().next().map(char::len_utf8),
            };
            at += comment?;
        }
        None
    }

    /// Extends a cut to whole lines, if nothing else is on them.
    fn lines(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let blank = |c: char| c == ' ' || c == '\t';
        let before = self.text[..start].trim_end_matches(blank);
        let after = self.text[end..].trim_start_matches(blank);
        if !before.ends_with('\n') || !after.starts_with(['\r', '\n']) {
            return (start, end);
        }
        let before = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
        (before.map_or(start, str::len), self.text.len() - after.len())
    }

    fn finish(mut self) -> String {
        self.edits.sort();
        let mut text = String::new();
        let mut at = 0;
        for (start, end, new) in self.edits {
            // A cut may lie in another one or share the end of a line with it.
            text.push_str(&self.text[at..start.max(at)]);
            text.push_str(&new);
            at = end.max(at);
        }
        text.push_str(&self.text[at..]);
        text
    }
}
