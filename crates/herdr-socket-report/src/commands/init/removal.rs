//! Our hooks taken out of JSON settings, by the places that the parser gives:
//! every comment and every blank of others stays.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::hooks::{Hooks, OPTIONS};

/// A text, and what of it is to be replaced: from where, to where, by what.
struct Removal<'a> {
    text: &'a str,
    edits: Vec<(usize, usize, String)>,
}

/// The settings without our hooks, of whatever version they are.
pub(super) fn remove(hooks: &Hooks, text: &str) -> Result<String, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    let value = parsed.map_err(|error| error.to_string())?.value;
    let Some(Value::Object(root)) = &value else { return Ok(text.to_owned()) };
    let mut removal = Removal { text, edits: Vec::new() };
    let mut gone = Vec::new();
    if let Some(Value::Object(events)) = root.get("hooks").map(|property| &property.value)
        && removal.events(hooks, events)
    {
        gone.push("hooks");
    }
    if let Some((last, path)) = hooks.agent.statusline().split_last() {
        let mut place = Some(root);
        for name in path {
            place = place.and_then(|place| object(place, name));
        }
        if let Some(place) = place.filter(|place| removal.statusline(place, last)) {
            if path.is_empty() {
                gone.push(last);
            } else {
                removal.properties(place, |name| name == *last);
            }
        }
    }
    removal.properties(root, |name| gone.contains(&name));
    Ok(removal.finish())
}

impl Removal<'_> {
    /// Takes ours out of the events' lists; whether nothing but ours was there.
    fn events(&mut self, hooks: &Hooks, events: &Object) -> bool {
        let mut gone = Vec::new();
        for event in &events.properties {
            let Value::Array(list) = &event.value else { continue };
            let ours = |entry: &Value| hooks.calls_us(self.slice(entry));
            let any = list.elements.iter().any(ours);
            if any && list.elements.iter().all(ours) && self.is_bare(list.range(), &list.elements) {
                gone.push(event.name.as_str());
                continue;
            }
            let mut whole = Vec::new();
            for entry in &list.elements {
                whole.push(hooks.calls_us(self.slice(entry)) && !self.group(hooks, entry));
            }
            self.elements(list, &whole);
        }
        let emptied = !gone.is_empty() && gone.len() == events.properties.len();
        if emptied && self.is_bare(events.range(), &events.properties) {
            return true;
        }
        self.properties(events, |name| gone.contains(&name));
        false
    }

    /// Takes ours out of a group which has hooks of others, too; whether it is
    /// one.
    fn group(&mut self, hooks: &Hooks, entry: &Value) -> bool {
        let Value::Object(entry) = entry else { return false };
        let Some(Value::Array(group)) = entry.get("hooks").map(|property| &property.value) else {
            return false;
        };
        let ours: Vec<_> =
            group.elements.iter().map(|hook| hooks.calls_us(self.slice(hook))).collect();
        let mixed = ours.contains(&false);
        if mixed {
            self.elements(group, &ours);
        }
        mixed
    }

    /// Puts the status line's command back that was there; whether there was
    /// none.
    fn statusline(&mut self, place: &Object, name: &str) -> bool {
        let command = object(place, name).and_then(|line| Some(&line.get("command")?.value));
        let Some(Value::StringLit(command)) = command else { return false };
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

    fn properties(&mut self, object: &Object, goes: impl Fn(&str) -> bool) {
        let properties = &object.properties;
        let goes: Vec<_> = properties.iter().map(|property| goes(property.name.as_str())).collect();
        self.items(object.range.end, properties, &goes);
    }

    fn elements(&mut self, array: &Array, goes: &[bool]) {
        self.items(array.range.end, &array.elements, goes);
    }

    /// Takes items of a list out, each with a comma.
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
            // The last one has none behind it.
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

    /// Where the comma between two items is, past the comments.
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

    /// The whole lines of a cut, if there is nothing else on them.
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

    /// Whether there is no comment between the items of a list.
    fn is_bare(&self, list: jsonc_parser::common::Range, items: &[impl Ranged]) -> bool {
        let mut at = list.start;
        let ends = items.iter().map(|item| (item.range().start, item.range().end));
        ends.chain([(list.end, list.end)]).all(|(start, end)| {
            let gap = &self.text[at..start];
            at = end;
            !gap.contains("//") && !gap.contains("/*")
        })
    }

    fn slice(&self, value: &impl Ranged) -> &str {
        &self.text[value.range().start..value.range().end]
    }

    fn finish(mut self) -> String {
        self.edits.sort();
        let mut text = String::new();
        let mut at = 0;
        for (start, end, new) in self.edits {
            // Two cuts may share the end of a line.
            text.push_str(&self.text[at..start.max(at)]);
            text.push_str(&new);
            at = end.max(at);
        }
        text.push_str(&self.text[at..]);
        text
    }
}

fn object<'a, 'b>(place: &'a Object<'b>, name: &str) -> Option<&'a Object<'b>> {
    match &place.get(name)?.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
