//! The keys that the picker knows, out of all terminal events.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key, or a paste.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-U.
    Erase,
    Letter(char),
    Pasted(String),
}

/// How many characters of a paste to accept.
const LONGEST_PASTE: usize = 4096;

impl Key {
    /// `None` for events that the picker ignores: other keys, other modifiers, the mouse, a resize.
    pub(super) fn of(event: Event) -> Option<Key> {
        match event {
            Event::Paste(text) => Some(Key::Pasted(text.chars().take(LONGEST_PASTE).collect())),
            Event::Key(key) if key.kind != KeyEventKind::Release => Key::pressed(key),
            _ => None,
        }
    }

    fn pressed(KeyEvent { code, modifiers, .. }: KeyEvent) -> Option<Key> {
        let key = match (code, modifiers) {
            // Crossterm reports a control character by its letter.
            (KeyCode::Char('c'), KeyModifiers::CONTROL) => Key::Interrupt,
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => Key::Erase,
            (KeyCode::Char('h'), KeyModifiers::CONTROL) => Key::Backspace,
            (KeyCode::Char('j'), KeyModifiers::CONTROL) => Key::Enter,
            (KeyCode::Char(letter), KeyModifiers::NONE | KeyModifiers::SHIFT) if !letter.is_control() => {
                Key::Letter(letter)
            }
            (_, modifiers) if !modifiers.is_empty() => return None,
            (KeyCode::Up, _) => Key::Up,
            (KeyCode::Down, _) => Key::Down,
            (KeyCode::PageUp, _) => Key::PageUp,
            (KeyCode::PageDown, _) => Key::PageDown,
            (KeyCode::Home, _) => Key::Home,
            (KeyCode::End, _) => Key::End,
            (KeyCode::Enter, _) => Key::Enter,
            (KeyCode::Esc, _) => Key::Escape,
            (KeyCode::Backspace, _) => Key::Backspace,
            _ => return None,
        };
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_count() {
        let check = |code, modifiers, expect| {
            assert_eq!(Key::of(Event::Key(KeyEvent::new(code, modifiers))), expect, "{code:?} {modifiers:?}");
        };
        check(KeyCode::Char('G'), KeyModifiers::SHIFT, Some(Key::Letter('G')));
        check(KeyCode::Char('世'), KeyModifiers::NONE, Some(Key::Letter('世')));
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Key::Interrupt));
        check(KeyCode::Char('j'), KeyModifiers::CONTROL, Some(Key::Enter));
        check(KeyCode::Esc, KeyModifiers::NONE, Some(Key::Escape));
        // Alt-q is not q, and shift-up is not up. U+0085 is a control character of Latin-1.
        check(KeyCode::Char('q'), KeyModifiers::ALT, None);
        check(KeyCode::Char('q'), KeyModifiers::CONTROL, None);
        check(KeyCode::Char('\u{85}'), KeyModifiers::NONE, None);
        check(KeyCode::Up, KeyModifiers::SHIFT, None);
        check(KeyCode::Tab, KeyModifiers::NONE, None);
        assert_eq!(Key::of(Event::Resize(80, 24)), None);
    }

    #[test]
    fn a_long_paste_is_cut() {
        let Some(Key::Pasted(text)) = Key::of(Event::Paste("ä".repeat(100_000))) else { panic!() };
        assert_eq!(text.chars().count(), LONGEST_PASTE);
    }
}
