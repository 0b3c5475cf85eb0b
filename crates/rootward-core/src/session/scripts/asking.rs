//! When the client is asked, which answers count, and how long calls wait.

use super::*;

#[test]
fn pending_calls_wait_until_the_timeout() {
    check(
        "ceiling=/a",
        "
        0     needed          => ask 1, wake 10000              | wait
        6000  needed          => -                              | wait
        9999  needed@0        => -                              | wait
        10000 needed@0        => cancel 1, roots 2, ask 2, settled, wake 20000 | failed /a Ceiling
        10001 answer 1 /a/b   => -                              | failed /a Ceiling
        10002 answer 2 /a/b   => roots 3                        | ready /a/b ByMode(Narrow)
        ",
    );
}

#[test]
fn a_call_is_overdue_however_often_the_question_is_repeated() {
    check(
        "",
        "
        0     needed     => ask 1, wake 10000         | wait
        6000  changed    => cancel 1, wake 6250       | wait
        6250  tick       => ask 2, wake 16250         | wait
        9999  needed@0   => -                         | wait
        10000 needed@0   => -                         | overdue
        10000 needed     => -                         | wait
        10020 answer 2 /c => roots 2, settled         | ready /c Client
        ",
    );
}

#[test]
fn a_failure_before_any_root_falls_back_and_is_retried() {
    check(
        "saved=/s",
        "
        0    needed    => ask 1, wake 10000        | wait
        5    error 1   => roots 2, settled         | failed /s Saved
        6    needed    => -                        | failed /s Saved
        999  needed    => -                        | failed /s Saved
        1000 needed    => ask 2, wake 11000        | failed /s Saved
        1001 needed    => -                        | failed /s Saved
        1100 error 2   => -                        | failed /s Saved
        2000 needed    => ask 3, wake 12000        | failed /s Saved
        2003 answer 3 /c => roots 3                | ready /c Client
        9000 needed    => -                        | ready /c Client
        ",
    );
}

#[test]
fn an_unused_session_is_not_asked_again() {
    check(
        "",
        "
        0     needed    => ask 1, wake 10000        | wait
        5     error 1   => settled                  | failed nothing NobodyNamed
        5000  tick      => -                        | failed nothing NobodyNamed
        90000 tick      => -                        | failed nothing NobodyNamed
        ",
    );
}

#[test]
fn a_revoked_root_is_gone_for_the_next_call() {
    check(
        "",
        "
        0    needed         => ask 1, wake 10000     | wait
        1    answer 1 /c /d => roots 2, settled      | ready /c /d Client
        2    changed        => wake 252              | wait
        3    needed         => -                     | wait
        252  tick           => ask 2, wake 10252     | wait
        259  needed         => -                     | wait
        260  answer 2 /d    => roots 3, settled      | ready /d Client
        ",
    );
}

#[test]
fn a_burst_is_one_question() {
    check(
        "",
        "
        0    needed      => ask 1, wake 10000     | wait
        1    answer 1 /c => roots 2, settled      | ready /c Client
        1000 changed     => wake 1250             | wait
        1200 changed     => wake 1450             | wait
        1250 tick        => wake 1450             | wait
        1450 tick        => ask 2, wake 11450     | wait
        1460 answer 2 /c => settled               | ready /c Client
        ",
    );
    // Another change arrives just as the burst would have ended, because the driver's timer is late.
    check(
        "",
        "
        0    needed      => ask 1, wake 10000     | wait
        1    answer 1 /c => roots 2, settled      | ready /c Client
        1000 changed     => wake 1250             | wait
        1260 changed     => wake 1510             | wait
        1510 needed      => ask 2, wake 11510     | wait
        ",
    );
    // A burst that does not end is cut off.
    check(
        "",
        "
        0    needed      => ask 1, wake 10000     | wait
        1    answer 1 /c => roots 2, settled      | ready /c Client
        1000 changed     => wake 1250             | wait
        1240 changed     => wake 1490             | wait
        1480 changed     => wake 1730             | wait
        1720 changed     => wake 1970             | wait
        1960 changed     => wake 2210             | wait
        2200 changed     => wake 2450             | wait
        2440 changed     => wake 2690             | wait
        2680 changed     => wake 2930             | wait
        2920 changed     => wake 3000             | wait
        3000 tick        => ask 2, wake 13000     | wait
        ",
    );
}

#[test]
fn without_debounce_the_client_is_asked_at_once() {
    let policy = Policy { debounce: Duration::ZERO, ..Policy::default() };
    play(
        policy,
        Support::Announced,
        "",
        "
        0 needed      => ask 1, wake 10000 | wait
        1 answer 1 /c => roots 2, settled  | ready /c Client
        2 changed     => ask 2, wake 10002 | wait
        ",
    );
}

#[test]
fn a_change_overtakes_the_answer_under_way() {
    check(
        "",
        "
        0    needed         => ask 1, wake 10000         | wait
        5    changed        => cancel 1, wake 255        | wait
        6    answer 1 /old  => -                         | wait
        255  tick           => ask 2, wake 10255         | wait
        260  answer 1 /old  => -                         | wait
        270  answer 2 /new  => roots 2, settled          | ready /new Client
        280  answer 1 /old  => -                         | ready /new Client
        ",
    );
}

#[test]
fn answers_in_reverse_order() {
    check(
        "",
        "
        0    needed       => ask 1, wake 10000          | wait
        1    answer 1 /a  => roots 2, settled           | ready /a Client
        10   changed      => wake 260                   | wait
        260  tick         => ask 2, wake 10260          | wait
        300  changed      => cancel 2, wake 550         | wait
        550  tick         => ask 3, wake 10550          | wait
        560  answer 3 /c  => roots 3, settled           | ready /c Client
        570  answer 2 /b  => -                          | ready /c Client
        580  error 2      => -                          | ready /c Client
        590  answer 9 /b  => -                          | ready /c Client
        ",
    );
}

#[test]
fn an_undeclared_change_notification_counts() {
    play(
        Policy::default(),
        Support::Listed,
        "",
        "
        0   changed      => -                       | wait
        1   needed       => ask 1, wake 10001       | wait
        2   answer 1 /a  => roots 2, settled        | ready /a Client
        3   changed      => wake 253                | wait
        253 tick         => ask 2, wake 10253       | wait
        ",
    );
}

#[test]
fn a_list_expires() {
    let script = "
        0      needed        => ask 1, wake 10000       | wait
        1000   answer 1 /a   => roots 2, settled        | ready /a Client
        301000 needed        => -                       | ready /a Client
        301001 tick          => -                       | wait
        301001 needed        => ask 2, wake 311001      | wait
        301002 needed        => -                       | wait
        301009 answer 2 /a   => settled                 | ready /a Client
        301010 needed@301001 => -                       | ready /a Client
        ";
    play(Policy::default(), Support::Listed, "", script);
}

#[test]
fn a_client_that_declares_changes_and_never_announces_one_is_asked_again_after_half_an_hour() {
    check(
        "",
        "
        0       needed      => ask 1, wake 10000      | wait
        1       answer 1 /a => roots 2, settled       | ready /a Client
        1800001 needed      => -                      | ready /a Client
        1800002 needed      => ask 2, wake 1810002    | wait
        1800003 answer 2 /b => roots 3, settled       | ready /b Client
        ",
    );
    let policy = Policy { lifetime_announced: None, ..Policy::default() };
    let script = "
        0         needed      => ask 1, wake 10000      | wait
        1         answer 1 /a => roots 2, settled       | ready /a Client
        999999999 needed      => -                      | ready /a Client
        ";
    play(policy, Support::Announced, "", script);
}

#[test]
fn a_lifetime_of_zero_asks_for_every_call_and_serves_it() {
    let policy = Policy { lifetime: Some(Duration::ZERO), ..Policy::default() };
    play(
        policy,
        Support::Listed,
        "",
        "
        0  needed      => ask 1, wake 10000       | wait
        5  answer 1 /a => roots 2, settled        | ready /a Client
        6  needed@0    => -                       | ready /a Client
        6  needed      => ask 2, wake 10006       | wait
        9  answer 2 /b => roots 3, settled        | ready /b Client
        10 needed@6    => -                       | ready /b Client
        ",
    );
}

#[test]
fn the_same_list_is_a_new_generation_only_if_it_leads_elsewhere() {
    check(
        "",
        "
        0   needed         => ask 1, wake 10000      | wait
        1   answer 1 /a=7  => roots 2, settled       | ready /a Client
        2   changed        => wake 252               | wait
        252 tick           => ask 2, wake 10252      | wait
        260 answer 2 /a=7  => settled                | ready /a Client
        300 changed        => wake 550               | wait
        550 tick           => ask 3, wake 10550      | wait
        560 answer 3 /a=8  => roots 3, settled       | ready /a Client
        ",
    );
}

/// The client answered in time but the disk is slow: only a client that never named a root gets the fallback.
#[test]
fn a_client_that_named_roots_gets_no_fallback_while_they_are_looked_up() {
    check(
        "ceiling=/c",
        "
        0     needed  => ask 1, wake 10000             | wait
        5     named 7 => -                             | wait
        10000 tick    => cancel 1, roots 2, settled    | failed /c Ceiling
        ",
    );
    check(
        "ceiling=/c",
        "
        0     needed  => ask 1, wake 10000             | wait
        5     named 1 => -                             | wait
        10000 tick    => cancel 1, settled             | failed nothing Lost
        ",
    );
}

#[test]
fn an_author_can_ask_for_a_fresh_list() {
    check(
        "",
        "
        0  needed      => ask 1, wake 10000                | wait
        1  invalidate  => cancel 1, ask 2, wake 10001      | wait
        2  answer 1 /a => -                                | wait
        3  answer 2 /a => roots 2, settled                 | ready /a Client
        4  invalidate  => -                                | wait
        5  tick        => -                                | wait
        6  needed      => ask 3, wake 10006                | wait
        7  answer 3 /b => roots 3, settled                 | ready /b Client
        ",
    );
}

#[test]
fn a_thousand_calls_are_one_question() {
    let mut session = SessionRoots::new(Policy::default(), Sources::default(), Support::Listed);
    let asked =
        (0..1000).map(Duration::from_millis).flat_map(|now| session.handle(now, Event::Needed { arrived: now }));
    assert_eq!(asked.filter(|effect| matches!(effect, Effect::Ask { .. })).count(), 1);
}

#[test]
fn infinite_times_do_not_overflow() {
    let policy = Policy {
        timeout: Duration::MAX,
        debounce: Duration::MAX,
        debounce_limit: Duration::MAX,
        lifetime: Some(Duration::MAX),
        retry_after: Duration::MAX,
        ..Policy::default()
    };
    let mut session = SessionRoots::new(policy, Sources::default(), Support::Listed);
    let now = Duration::from_secs(1);
    session.handle(now, Event::Needed { arrived: now });
    assert_eq!(session.standing(now, now), Standing::Wait { until: Duration::MAX });
    session.handle(now, Event::Answered { request: RequestNumber(1), roots: set(["/a"], Origin::Client) });
    assert!(matches!(session.standing(now, now), Standing::Proceed(_)));
    session.handle(now, Event::ListChanged);
    assert!(matches!(session.standing(now, now), Standing::Wait { .. }));
}

#[test]
fn time_does_not_run_backwards() {
    // Two tasks read the clock, and the one with the later time is handled first.
    check(
        "",
        "
        0   needed      => ask 1, wake 10000     | wait
        1   answer 1 /c => roots 2, settled      | ready /c Client
        300 changed     => wake 550              | wait
        290 changed     => -                     | wait
        550 tick        => ask 2, wake 10550     | wait
        ",
    );
}
