% The Prolog side of the knowledge base. It runs in a process that the kernel keeps from all directories.
%
% Requests arrive on standard input: a line `Nonce Verb Length...`, then texts of these lengths in characters. No text is ever pasted
% into a goal: Prolog's own reader parses texts as data. Replies go to standard output, one JSON array of strings per line. What a
% program prints goes to standard error, where the server collects it.
%
% The server trusts none of this: a program that runs here can change anything in this process. The kernel confines it, and the server
% checks the replies.

:- module(rootward_kb, []).

:- use_module(library(lists), [append/3, member/2, memberchk/2, reverse/2]).
:- use_module(library(apply), [maplist/3]).
:- use_module(library(listing), [portray_clause/3]).
:- use_module(library(error), [must_be/2]).

:- dynamic loading/1, initial/2, initial_operator/3.

% Larger terms are printed only in part.
most_cells(200_000).

serve :-
    stream_property(In, file_no(0)),
    stream_property(Out, file_no(1)),
    stream_property(Err, file_no(2)),
    set_stream(In, encoding(utf8)), set_stream(In, newline(posix)),
    set_stream(Out, encoding(utf8)), set_stream(Out, newline(posix)), set_stream(Out, buffer(full)),
    set_stream(Err, encoding(utf8)), set_stream(Err, buffer(full)), set_stream(Err, representation_errors(error)),
    nb_setval(rootward_in, In),
    nb_setval(rootward_out, Out),
    nb_setval(rootward_err, Err),
    nb_setval(rootward_busy, false),
    own_streams,
    forall(( current_predicate(user:Name/Arity), functor(Head, Name, Arity),
             \+ predicate_property(user:Head, imported_from(_)) ),
           assertz(initial(Name, Arity))),
    forall('$local_op'(Priority, Type, user:Operator), assertz(initial_operator(Priority, Type, Operator))),
    set_prolog_flag(debug_on_error, false),
    set_prolog_flag(report_error, true),
    reply([ready]),
    repeat,
    request(In, Nonce, Verb, Arguments),
    nb_setval(rootward_nonce, Nonce),
    nb_setval(rootward_answered, false),
    nb_setval(rootward_thrown, 0),
    % A signal that arrives while an exception leaves `perform/3` may throw its own exception past it.
    catch(handle(Verb, Arguments), rootward_interrupted, final([interrupted])),
    fail.

% Keeps programs from reading requests and printing into replies.
own_streams :-
    nb_getval(rootward_err, Err),
    open_string("", Nothing),
    set_stream(Nothing, alias(user_input)),
    set_stream(Err, alias(user_output)),
    set_stream(Err, alias(user_error)),
    set_input(Nothing),
    set_output(Err).

request(In, Nonce, Verb, Arguments) :-
    read_string(In, "\n", "", End, Line),
    (   End == -1
    ->  halt
    ;   split_string(Line, " ", "", [Nonce, Name|Lengths]),
        atom_string(Verb, Name),
        maplist([Length, Text]>>( number_string(Number, Length), read_string(In, Number, Text) ), Lengths, Arguments)
    ).

handle(Verb, Arguments) :-
    on_signal(usr1, _, rootward_kb:interrupted),
    own_streams,
    nb_setval(rootward_busy, false),
    (   catch(perform(Verb, Arguments, Result), Error, true)
    ->  (   var(Error)
            % Some built-in predicates, such as `open/3` of a pipe, drop an exception from a signal and fail.
        ->  nb_getval(rootward_thrown, Thrown),
            ( Thrown =:= 0 -> final(Result) ; final([interrupted]) )
        ;   Error == rootward_interrupted
        ->  final([interrupted])
        ;   error_text(Error, Text),
            final([failed, Text])
        )
    ;   final([failed, "the request has no result"])
    ).

% Prints the nonce at the end of the request's output, so that the server knows that the output is complete.
final(_) :-
    nb_getval(rootward_answered, true),
    !.
final(Result) :-
    nb_setval(rootward_answered, true),
    nb_getval(rootward_err, Err),
    nb_getval(rootward_nonce, Nonce),
    catch(format(Err, "~w~n", [Nonce]), _, true),
    catch(flush_output(Err), _, true),
    reply(Result).

% The server repeats this signal until the request has ended. It interrupts a goal inside `perform/3`, and never the sending of a
% message.
interrupted(_) :-
    (   nb_getval(rootward_busy, false),
        prolog_current_frame(Frame),
        prolog_frame_attribute(Frame, parent_goal, system:catch(rootward_kb:perform(_, _, _), _, _)),
        % At most one per second: leaving a deep recursion takes a while.
        get_time(Now), nb_getval(rootward_thrown, Before), Now - Before > 1
    ->  nb_setval(rootward_thrown, Now),
        throw(rootward_interrupted)
    ;   true
    ).

undisturbed(Goal) :-
    nb_getval(rootward_busy, Before),
    nb_setval(rootward_busy, true),
    catch(Goal, Error, true),
    nb_setval(rootward_busy, Before),
    ( var(Error) -> true ; throw(Error) ).

% --- Requests ---

perform(load, [Path, Text], [done, Errors, Warnings]) :-
    atom_string(File, Path),
    statistics(errors, Errors0), statistics(warnings, Warnings0),
    load_text(File, Text, user, [if(true)]),
    statistics(errors, Errors1), statistics(warnings, Warnings1),
    Errors is Errors1 - Errors0, Warnings is Warnings1 - Warnings0.
perform(query, [Text, MostText, SizeText], [done, Status]) :-
    number_string(Most, MostText),
    number_string(Size, SizeText),
    goal(Text, Goal, Names),
    answers(Goal, Names, Most, Size, Status).
perform(assert, [Text], [done, Count]) :-
    clauses(Text, Clauses),
    forall(member(Clause, Clauses), ( changeable(Clause), assertz(user:Clause) )),
    length(Clauses, Count).
perform(retract, [Text, Which], [done, Count]) :-
    single(Text, Clause, _),
    check_clause(Clause),
    changeable(Clause),
    State = count(0),
    (   retract_clause(Clause),
        arg(1, State, Count0), Count1 is Count0 + 1, nb_setarg(1, State, Count1),
        Which == "one"
    ->  true
    ;   true
    ),
    arg(1, State, Count).
perform(symbols, [], [done]) :-
    forall(symbol(Name, Arity, Kind, Count, File),
           ( format(string(Indicator), "~q", [Name/Arity]), reply([symbol, Indicator, Kind, Count, File]) )).
perform(dump, [], [done]) :-
    dump.

% Parses a goal and the names of its variables.
goal(Text, Goal, Names) :-
    single(Text, Term, Names),
    (   nonvar(Term), Term = (?- Asked) -> Goal = Asked
    ;   nonvar(Term), Term = (:- _) -> throw(error(rootward_said("a query is a goal, not a directive"), _))
    ;   Goal = Term
    ).

single(Text, Term, Names) :-
    term_string(Term, Text, [module(user), variable_names(Names)]).

% All clauses of a text. A syntax error in one rejects all.
clauses(Text, Clauses) :-
    normalize_end(Text, Ended),
    setup_call_cleanup(open_string(Ended, In),
                       ( set_stream(In, file_name(clauses)), read_clauses(In, Clauses) ),
                       close(In)).

normalize_end(Text, Ended) :-
    split_string(Text, "", " \t\r\n", [Stripped]),
    (   sub_string(Stripped, _, 1, 0, ".") -> Ended = Stripped ; string_concat(Stripped, " .", Ended) ).

read_clauses(In, Clauses) :-
    read_term(In, Term, [module(user), syntax_errors(error)]),
    (   Term == end_of_file
    ->  Clauses = []
    ;   check_clause(Term),
        (   Term = (_ --> _) -> dcg_translate_rule(Term, Clause) ; Clause = Term ),
        Clauses = [Clause|More],
        read_clauses(In, More)
    ).

check_clause(Clause) :-
    must_be(callable, Clause),
    (   ( Clause = (:- _) ; Clause = (?- _) )
    ->  throw(error(rootward_said("a directive is not a clause: use `query` to run a goal"), _))
    ;   ( Clause = (Head :- _) -> must_be(callable, Head) ; true )
    ).

% Makes predicates from files dynamic, so that they can be changed.
changeable(Clause) :-
    ( Clause = (Head0 :- _) -> Head = Head0 ; Head = Clause ),
    (   predicate_property(user:Head, defined),
        \+ predicate_property(user:Head, dynamic),
        \+ predicate_property(user:Head, imported_from(_)),
        \+ predicate_property(user:Head, system)
    ->  functor(Head, Name, Arity),
        dynamic(user:Name/Arity)
    ;   true
    ).

retract_clause((Head :- Body)) :- !, retract(user:(Head :- Body)).
retract_clause(Head) :- retract(user:Head).

% --- Answers ---

answers(Goal, Names, Most, Size, Status) :-
    State = so_far(0, 0),
    (   call_cleanup(user:Goal, Last = true),
        answer(Names, Length),
        arg(1, State, Count0), Count is Count0 + 1, nb_setarg(1, State, Count),
        arg(2, State, Length0), Total is Length0 + Length, nb_setarg(2, State, Total),
        (   Last == true -> Status = all
        ;   Count >= Most -> Status = more
        ;   Total >= Size -> Status = more
        ;   fail
        )
    ->  true
    ;   Status = all
    ).

answer(Names, Length) :-
    term_attvars(Names, Attributed),
    (   Attributed == []
    ->  Shown = Names, Constraints = []
    ;   copy_term(Names, Shown, Constraints)
    ),
    named(Shown, Unbound),
    findall([Name, Value], ( member(Name = Term, Shown), \+ var(Term), text(Term, Unbound, Value) ), Pairs),
    findall(["", Value], ( member(Constraint, Constraints), text(Constraint, Unbound, Value) ), Rest),
    append(Pairs, Rest, All),
    append(All, Fields),
    foldl_length(Fields, 0, Length),
    reply([answer|Fields]).

append([], []).
append([List|Lists], All) :- append(Lists, Rest), append(List, Rest, All).

foldl_length([], Length, Length).
foldl_length([Field|Fields], Length0, Length) :-
    string_length(Field, One), Length1 is Length0 + One, foldl_length(Fields, Length1, Length).

% Unbound variables keep the names from the query, one name for each.
named(Names, Unbound) :- named(Names, [], Unbound).
named([], _, []).
named([Name = Term|Rest], Seen, Unbound) :-
    (   var(Term), \+ ( member(Other, Seen), Other == Term )
    ->  Unbound = [Name = Term|More], named(Rest, [Term|Seen], More)
    ;   named(Rest, Seen, Unbound)
    ).

text(Term, Names, Text) :-
    most_cells(Most),
    (   cyclic_term(Term) -> Depth = 20
    ;   term_size(Term, Cells), Cells > Most -> Depth = 100
    ;   Depth = 0
    ),
    Options = [quoted(true), max_depth(Depth), variable_names(Names), spacing(next_argument), module(user), no_lists(false)],
    format(string(Text), "~W", [Term, Options]).

% --- Symbols and the dump ---

own(Name, Arity, Head) :-
    current_predicate(user:Name/Arity),
    functor(Head, Name, Arity),
    \+ initial(Name, Arity),
    \+ predicate_property(user:Head, imported_from(_)).

symbol(Name, Arity, Kind, Count, File) :-
    findall(Name0/Arity0, own(Name0, Arity0, _), Found),
    sort(Found, Sorted),
    member(Name/Arity, Sorted),
    functor(Head, Name, Arity),
    ( predicate_property(user:Head, dynamic) -> Kind = "dynamic" ; Kind = "static" ),
    ( predicate_property(user:Head, number_of_clauses(Count)) -> true ; Count = 0 ),
    ( predicate_property(user:Head, file(File)) -> true ; File = "" ).

dump :-
    forall(( '$local_op'(Priority, Type, user:Operator), Priority > 0, \+ initial_operator(Priority, Type, Operator) ),
           reply_text(":- op(~w, ~w, ~q).\n", [Priority, Type, Operator])),
    forall(( module_property(Module, class(library)), Module \== rootward_kb,
             once(( predicate_property(user:Head, imported_from(Module)), \+ predicate_property(user:Head, autoload(_)) )),
             module_property(Module, file(File)), library_name(File, Library) ),
           reply_text(":- use_module(library(~q)).\n", [Library])),
    findall(Name0/Arity0, own(Name0, Arity0, _), Found),
    sort(Found, Sorted),
    forall(member(Name/Arity, Sorted), dump(Name, Arity)).

dump(Name, Arity) :-
    functor(Head, Name, Arity),
    (   predicate_property(user:Head, dynamic)
    ->  reply_text("\n:- dynamic ~q.\n", [Name/Arity])
    ;   reply_text("\n", [])
    ),
    forall(catch(clause(user:Head, Body), _, fail),
           ( ( Body == true -> Clause = Head ; Clause = (Head :- Body) ),
             with_output_to(string(Text), portray_clause(current_output, Clause, [module(user)])),
             reply([text, Text]) )).

library_name(File, Library) :-
    current_prolog_flag(home, Home),
    atomic_list_concat([Home, '/library/'], Prefix),
    atom_concat(Prefix, Rest, File),
    file_name_extension(Library, _, Rest).

reply_text(Format, Arguments) :-
    format(string(Text), Format, Arguments),
    reply([text, Text]).

% --- Files: requested from the server, because this process cannot open any ---

:- multifile user:prolog_load_file/2.
:- dynamic user:prolog_load_file/2.
user:prolog_load_file(Module:Specification, Options) :-
    rootward_kb:load_from_roots(Module, Specification, Options).

load_from_roots(Module, Specification, Options) :-
    wanted(Specification, Base, Name),
    ask(source, Base, Name, Answer),
    (   Answer = file(Path, Text)
    ->  atom_string(File, Path),
        load_once(File, Text, Module, Options)
    ;   Answer = missing(_), memberchk(if(exists), Options)
    ->  true
    ;   cannot(load, Specification, Answer)
    ).

% The name of a user's file, and the file that names it. Fails for the system's libraries.
wanted(Specification, Base, Name) :-
    file_text(Specification, Name),
    base(Base),
    current_prolog_flag(home, Home),
    (   sub_string(Name, 0, 1, _, "/") -> \+ below(Name, Home) ; \+ below(Base, Home) ).

file_text(Specification, Name) :- atom(Specification), !, atom_string(Specification, Name).
file_text(Specification, Specification) :- string(Specification), !.
file_text(Above/Below, Name) :-
    file_text(Above, AboveName), file_text(Below, BelowName),
    atomics_to_string([AboveName, "/", BelowName], Name).

base(Base) :-
    (   source_location(File, _) -> true ; prolog_load_context(source, File) -> true ; File = '' ),
    atom_string(File, Base).

below(Name, Directory) :-
    atomics_to_string([Directory, "/"], Prefix),
    sub_string(Name, 0, _, _, Prefix).

load_once(File, Text, Module, Options) :-
    (   memberchk(if(If), Options), If \== true, ( loading(File) ; source_file(File) )
    ->  '$already_loaded'(File, File, Module, Options)
    ;   load_text(File, Text, Module, Options)
    ).

load_text(File, Text, Module, Options) :-
    setup_call_cleanup(
        ( open_string(Text, In), assertz(loading(File), Reference) ),
        load_files(Module:File, [stream(In)|Options]),
        ( erase(Reference), close(In, [force(true)]) )).

:- multifile system:term_expansion/2.
:- dynamic system:term_expansion/2.
system:term_expansion((:- include(Specification)), (:- include(stream(File, In, [close(true)])))) :-
    \+ ( nonvar(Specification), Specification = stream(_, _, _) ),
    rootward_kb:included(Specification, File, In).

included(Specification, File, In) :-
    wanted(Specification, Base, Name),
    ask(source, Base, Name, Answer),
    (   Answer = file(Path, Text)
    ->  atom_string(File, Path),
        open_string(Text, In)
    ;   cannot(include, Specification, Answer)
    ).

% A predicate for programs: reads a file in the roots.
user:roots_text(Path, Text) :-
    rootward_kb:file_text(Path, Name),
    rootward_kb:base(Base),
    rootward_kb:ask(text, Base, Name, Answer),
    (   Answer = file(_, Text)
    ->  true
    ;   rootward_kb:cannot(read, Path, Answer)
    ).

% The kernel keeps this process from creating others. `shell/2` of SWI-Prolog 9 only prints that failure and succeeds; these throw.
:- redefine_system_predicate(user:shell).
:- redefine_system_predicate(user:shell(_)).
:- redefine_system_predicate(user:shell(_, _)).
user:shell :- rootward_kb:no_program(shell).
user:shell(Command) :- rootward_kb:no_program(Command).
user:shell(Command, _) :- rootward_kb:no_program(Command).

no_program(Command) :- throw(error(permission_error(run, program, Command), context(_, 'programs cannot be run here'))).

cannot(_, Specification, missing(_)) :- throw(error(existence_error(source_sink, Specification), _)).
cannot(Action, Specification, refused(Why)) :-
    throw(error(permission_error(Action, source_sink, Specification), context(_, Why))).

ask(Kind, Base, Name, Answer) :-
    undisturbed(asked(Kind, Base, Name, Answer)).

asked(Kind, Base, Name, Answer) :-
    reply([ask, Kind, Base, Name]),
    nb_getval(rootward_in, In),
    request(In, _, Verb, Arguments),
    Answer =.. [Verb|Arguments].

% --- Replies ---

:- multifile prolog:error_message//1.
prolog:error_message(rootward_said(Text)) --> [ '~w'-[Text] ].

% Removes the caller from an error if it is part of this file: it means nothing to the client.
without_caller(error(Formal, context(Caller, Message)), error(Formal, context(_, Message))) :-
    nonvar(Caller),
    ( Caller = system:setup_call_catcher_cleanup/4 ; Caller = system:'<meta-call>'/1 ; Caller = rootward_kb:_ ),
    !.
without_caller(Error, Error).

error_text(Error0, Text) :-
    without_caller(Error0, Error),
    catch(( '$messages':translate_message(Error, Lines, []),
            with_output_to(string(Text), print_message_lines(current_output, '', Lines)) ),
          _, fail),
    Text \== "",
    !.
error_text(Error, Text) :-
    catch(text(Error, [], Text), _, Text = "an error that cannot be printed").

reply(Fields) :-
    undisturbed(send(Fields)).

send(Fields) :-
    nb_getval(rootward_out, Out),
    ( nb_current(rootward_nonce, Nonce) -> true ; Nonce = "" ),
    put_char(Out, '['),
    string_json(Out, Nonce),
    forall(member(Field, Fields), ( put_char(Out, ','), string_json(Out, Field) )),
    put_char(Out, ']'),
    nl(Out),
    flush_output(Out).

string_json(Out, Value) :-
    put_char(Out, '"'),
    ( string(Value) -> Text = Value ; format(string(Text), "~w", [Value]) ),
    string_codes(Text, Codes),
    codes_json(Codes, Out),
    put_char(Out, '"').

codes_json([], _).
codes_json([Code|Codes], Out) :-
    code_json(Code, Out),
    codes_json(Codes, Out).

code_json(0'", Out) :- !, write(Out, '\\"').
code_json(0'\\, Out) :- !, write(Out, '\\\\').
code_json(Code, Out) :-
    ( Code < 0x20 ; Code >= 0xD800, Code =< 0xDFFF ),
    !,
    surrogate(Code, Shown),
    format(Out, "\\u~|~`0t~16r~4+", [Shown]).
code_json(Code, Out) :- put_code(Out, Code).

% Half a surrogate pair is neither a character nor valid JSON.
surrogate(Code, 0xFFFD) :- Code >= 0xD800, !.
surrogate(Code, Code).
