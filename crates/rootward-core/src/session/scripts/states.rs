//! Every row of the tables: the current roots in each state and under each setting.

use crate::set::Mode;

use super::*;

#[test]
fn unsupported_falls_back() {
    let check = |named: &str, expect: &str| {
        let script = format!("0 needed => - | unsupported {expect}\n9 changed => - | unsupported {expect}");
        play(Policy::default(), Support::No, named, &script);
    };
    check("ceiling=/a saved=/b fallback=/c", "/a Ceiling");
    check("saved=/b fallback=/c", "/b Saved");
    check("fallback=/c", "/c Fallback");
    check("", "nothing NobodyNamed");
    // A source whose roots are gone is not the same as a source without roots.
    check("ceiling=!gone saved=/b fallback=/c", "nothing Ceiling");
    check("saved=!gone fallback=/c", "nothing Saved");
}

#[test]
fn ready_is_by_mode() {
    let check = |mode: Mode, ceiling: &str, answer: &str, expect: &str| {
        let policy = Policy { mode, ..Policy::default() };
        let script = format!(
            "0 needed => ask 1, wake 10000 | wait
             1 answer 1 {answer} => roots 2, settled | ready {expect}"
        );
        play(policy, Support::Announced, ceiling, &script);
    };
    check(Mode::Narrow, "", "/a/b /c", "/a/b /c Client");
    check(Mode::Narrow, "ceiling=/a", "/a/b /c", "/a/b ByMode(Narrow)");
    check(Mode::Narrow, "ceiling=/a/x,/b", "/a", "/a/x ByMode(Narrow)");
    check(Mode::Replace, "ceiling=/a", "/a/b /c", "/a/b /c ByMode(Replace)");
    check(Mode::Union, "ceiling=/a", "/a/b /c", "/a/b /c /a ByMode(Union)");
    // One bad entry does not affect the good ones.
    check(Mode::Narrow, "ceiling=/a", "!bad /a/b", "/a/b ByMode(Narrow)");
    // The saved roots and the fallback are for clients that name no roots.
    check(Mode::Union, "saved=/s fallback=/f", "/c", "/c Client");
    // A ceiling whose roots are gone allows nothing.
    check(Mode::Narrow, "ceiling=!gone", "/c", "nothing OutsideCeiling");
}

#[test]
fn usable_is_judged_before_the_ceiling() {
    // There are no roots before or after the answer, so the generation stays the same; only the state changes.
    check(
        "ceiling=/a saved=/s",
        "
        0 needed      => ask 1, wake 10000 | wait
        1 answer 1 /c => settled           | ready nothing OutsideCeiling
        ",
    );
}

#[test]
fn an_empty_list_from_the_start_falls_back() {
    check(
        "ceiling=/a saved=/b",
        "
        0 needed   => ask 1, wake 10000  | wait
        1 answer 1 => roots 2, settled   | empty /a Ceiling
        2 needed   => -                  | empty /a Ceiling
        ",
    );
}

#[test]
fn a_client_that_takes_its_roots_back_leaves_nothing() {
    check(
        "ceiling=/a saved=/s fallback=/f",
        "
        0   needed        => ask 1, wake 10000         | wait
        1   answer 1 /a/b => roots 2, settled          | ready /a/b ByMode(Narrow)
        2   changed       => wake 252                  | wait
        252 tick          => ask 2, wake 10252         | wait
        260 answer 2      => roots 3, settled          | empty nothing Revoked
        300 changed       => wake 550                  | wait
        550 tick          => ask 3, wake 10550         | wait
        560 error 3       => settled                   | failed nothing Lost
        ",
    );
    // Roots that could not be used count as named.
    check(
        "ceiling=/a",
        "
        0   needed        => ask 1, wake 10000         | wait
        1   answer 1 !bad => roots 2, settled          | unusable nothing Unusable
        2   changed       => wake 252                  | wait
        252 tick          => ask 2, wake 10252         | wait
        260 answer 2      => roots 3, settled          | empty nothing Revoked
        ",
    );
}

#[test]
fn an_unusable_list_gives_nothing() {
    check(
        "ceiling=/a saved=/s fallback=/f",
        "
        0    needed         => ask 1, wake 10000        | wait
        1    answer 1 !a !b => roots 2, settled         | unusable nothing Unusable
        2    invalidate     => -                        | wait
        3    needed         => ask 2, wake 10003        | wait
        4    error 2        => roots 3, settled         | failed nothing Lost
        ",
    );
}

#[test]
fn losing_narrows() {
    check(
        "ceiling=/a saved=/s fallback=/f",
        "
        0     needed      => ask 1, wake 10000                     | wait
        1     answer 1 /a/b => roots 2, settled                    | ready /a/b ByMode(Narrow)
        2     changed     => wake 252                              | wait
        252   tick        => ask 2, wake 10252                     | wait
        10252 tick        => cancel 2, roots 3, settled            | failed nothing Lost
        10253 needed      => ask 3, wake 20253                     | failed nothing Lost
        20253 tick        => cancel 3                              | failed nothing Lost
        20254 needed      => ask 4, wake 30254                     | failed nothing Lost
        20260 answer 4    => -                                     | empty nothing Revoked
        ",
    );
}

#[test]
fn strict_gives_access_in_ready_alone() {
    let strict = || Policy { no_roots: NoRoots::AllowAll, ..following(Follow::Strict) };
    let everybody = "ceiling=/a saved=/s fallback=/f";
    for named in [everybody, ""] {
        play(strict(), Support::No, named, "0 needed => - | unsupported nothing Strict");
        play(
            strict(),
            Support::Listed,
            named,
            "0 needed => ask 1, wake 10000 | wait\n1 answer 1 => settled | empty nothing Strict",
        );
        play(
            strict(),
            Support::Listed,
            named,
            "0 needed => ask 1, wake 10000 | wait\n1 error 1 => settled | failed nothing Strict",
        );
    }
    let ready = "0 needed => ask 1, wake 10000 | wait\n1 answer 1 /a/b => roots 2, settled | ready /a/b ByMode(Narrow)";
    play(strict(), Support::Listed, everybody, ready);
}

#[test]
fn an_ignored_client_is_never_asked() {
    let check = |follow: Follow, named: &str, expect: &str| {
        // A client that could be asked is `ignored`; one that could not is `unsupported`.
        for (support, state) in [(Support::Listed, "ignored"), (Support::No, "unsupported")] {
            let policy = Policy { no_roots: NoRoots::AllowAll, ..following(follow) };
            let script = format!(
                "0 needed         => - | {state} {expect}
             1 changed        => - | {state} {expect}
             2 invalidate     => - | {state} {expect}
             3 answer 1 /c    => - | {state} {expect}
             9000000 needed   => - | {state} {expect}"
            );
            play(policy, support, named, &script);
        }
    };
    check(Follow::IgnoreClient, "ceiling=/a saved=/s fallback=/f", "/a ClientIgnored");
    check(Follow::IgnoreClient, "saved=/s fallback=/f", "nothing ClientIgnored");
    check(Follow::FallbackOnly, "ceiling=/a saved=/s fallback=/f", "/f FallbackOnly");
    check(Follow::FallbackOnly, "ceiling=/a saved=/s", "nothing FallbackOnly");
}

#[test]
fn everything_is_allowed_only_if_nobody_ever_named_a_root() {
    let asked = |named: &str, answer: &str| {
        play(allow_all(), Support::Listed, named, &format!("0 needed => ask 1, wake 10000 | wait\n{answer}"));
    };
    play(allow_all(), Support::No, "", "0 needed => - | unsupported everything AllowAll");
    asked("", "1 answer 1 => roots 2, settled | empty everything AllowAll");
    asked("", "1 error 1 => roots 2, settled | failed everything AllowAll");
    // Somebody named a root.
    play(allow_all(), Support::No, "ceiling=!gone", "0 needed => - | unsupported nothing Ceiling");
    play(allow_all(), Support::No, "fallback=!gone", "0 needed => - | unsupported nothing Fallback");
    asked("", "1 answer 1 !bad => roots 2, settled | unusable nothing Unusable");
    asked("ceiling=/a", "1 answer 1 /c => settled | ready nothing OutsideCeiling");
    // The client named a root, and then revoked it or was lost.
    asked(
        "",
        "
        1  answer 1 /c => roots 2, settled          | ready /c Client
        2  invalidate  => -                         | wait
        3  needed      => ask 2, wake 10003         | wait
        4  answer 2    => roots 3, settled          | empty nothing Revoked
        5  invalidate  => -                         | wait
        6  needed      => ask 3, wake 10006         | wait
        7  error 3     => settled                   | failed nothing Lost
        ",
    );
}

#[test]
fn missing_roots_come_back_and_found_ones_go() {
    check(
        "ceiling=/a",
        "
        0   needed         => ask 1, wake 10000      | wait
        1   answer 1 !/a/b => roots 2, settled       | unusable nothing Unusable
        50  look 1 /a/b    => roots 3                | ready /a/b ByMode(Narrow)
        60  look 1 !/a/b   => roots 4                | unusable nothing Unusable
        65  look 1         => roots 5                | unusable nothing Unusable
        70  look 9 /a/b    => -                      | unusable nothing Unusable
        80  changed        => wake 330               | wait
        90  look 1 /a/b    => roots 6                | wait
        330 tick           => ask 2, wake 10330      | wait
        340 error 2        => roots 7, settled       | failed nothing Lost
        350 look 1 /a/b    => -                      | failed nothing Lost
        ",
    );
}

#[test]
fn changed_sources_count_at_once() {
    check(
        "ceiling=/a",
        "
        0  needed                => ask 1, wake 10000       | wait
        1  sources ceiling=/b    => -                       | wait
        2  answer 1 /a /b        => roots 2, settled        | ready /b ByMode(Narrow)
        3  sources ceiling=/a    => roots 3                 | ready /a ByMode(Narrow)
        4  sources ceiling=!gone => roots 4                 | ready nothing OutsideCeiling
        ",
    );
    play(
        Policy::default(),
        Support::No,
        "saved=/s",
        "
        0  needed           => -         | unsupported /s Saved
        1  sources saved=/t => roots 2   | unsupported /t Saved
        2  sources saved=/t => -         | unsupported /t Saved
        ",
    );
}

#[test]
fn changed_restrictions_get_a_new_generation() {
    check(
        "saved=/s",
        "
        0  closed             => roots 2           | wait
        1  needed             => ask 1, wake 10001 | wait
        2  answer 1 /a        => roots 3, settled  | ready /a Client
        3  closed             => roots 4           | ready /a Client
        4  sources saved=/t   => -                 | ready /a Client
        ",
    );
}

#[test]
fn the_state_is_pending_while_calls_wait_and_a_failure_has_its_reason() {
    let mut session = SessionRoots::new(Policy::default(), Sources::default(), Support::Listed);
    let now = Duration::ZERO;
    assert_eq!((session.state(), session.current().generation), (State::Pending, 1));
    session.handle(now, Event::Needed { arrived: now });
    session.handle(now, Event::Failed { request: RequestNumber(1), reason: "-32601".to_owned() });
    assert_eq!(session.state(), State::Failed);
    let reason = session.failure().map(ToString::to_string);
    assert_eq!(reason.as_deref(), Some("the client did not list its roots: -32601"));
    session.handle(now, Event::ListChanged);
    assert_eq!((session.state(), session.current().state), (State::Pending, State::Failed));
}
