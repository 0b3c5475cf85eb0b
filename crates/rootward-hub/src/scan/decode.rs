//! Percent decoding as the most careless parser would do it.

/// Decodes percent escapes once. Invalid escapes stay as they are. Overlong UTF-8 (`%c0%af`, CVE-2000-0884) and
/// `%u002f` decode the way old parsers did.
pub(super) fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = |from: usize, to: usize| {
            let digits =
                text.get(at + from..at + to).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        if bytes[at] != b'%' {
            decoded.push(bytes[at]);
            at += 1;
        } else if let Some(byte) = digits(1, 3).and_then(|value| u8::try_from(value).ok()) {
            decoded.push(byte);
            shorten(&mut decoded);
            at += 3;
        } else if let Some(c) = bytes
            .get(at + 1)
            .filter(|next| matches!(next, b'u' | b'U'))
            .and_then(|_| digits(2, 6))
            .and_then(char::from_u32)
        {
            decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at += 6;
        } else {
            decoded.push(b'%');
            at += 1;
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Replaces an overlong UTF-8 sequence at the end with the byte it encodes, whether or not its last byte is valid.
fn shorten(decoded: &mut Vec<u8>) {
    const LEADS: [&[u8]; 4] =
        [&[0xe0, 0x80], &[0xf0, 0x80, 0x80], &[0xf8, 0x80, 0x80, 0x80], &[0xfc, 0x80, 0x80, 0x80, 0x80]];
    let Some((last, before)) = decoded.split_last() else { return };
    let (lead, high) = match before {
        [.., 0xc0] => (1, 0),
        [.., 0xc1] => (1, 0x40),
        before => match LEADS.iter().find(|lead| before.ends_with(lead)) {
            Some(lead) => (lead.len(), 0),
            None => return,
        },
    };
    // A longer sequence is not complete yet.
    if lead > 1 && *last == 0x80 {
        return;
    }
    let byte = high | (last & 0x3f);
    let start = before.len() - lead;
    decoded.truncate(start);
    decoded.push(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let check = |text: &str, decoded: &str| assert_eq!(percent_decoded(text), decoded, "{text}");
        check("%2e%2E%2fx", "../x");
        check("%252e", "%2e");
        check("100%", "100%");
        check("%zz%2", "%zz%2");
        check("%+1%é", "%+1%é");
        check("%c3%a9", "é");
        check("%ff", "\u{fffd}");
        check("..%c0%af%c0%ae", "../.");
        check("%c0%2e%e0%80%af%f0%80%80%af%f8%80%80%80%ae%fc%80%80%80%80%af%c1%9c", ".//./\\");
        check("%u002f%U005c", "/\\");
        check("%%32%65", "%2e");
    }
}
