// The steps of a case, the same for every TypeScript client.
//
// A case is one JSON argument: where the server is, and what to do in which order. Each step that has an outcome prints it as
// a line of JSON; only the program that starts this knows what is right (`interop/src/peers`, `interop/src/hub`).

import { pathToFileURL } from 'node:url';

export const testCase = JSON.parse(process.argv[2]);

export const say = (outcome) => console.log(JSON.stringify(outcome));

const after = (seconds, value) => new Promise((resolve) => setTimeout(resolve, seconds * 1000, value));

/** What the client says when it is asked for its roots, and how often it was. */
export const answers = {
  asked: 0,
  current: { roots: [] },

  /** `Failure` is the SDK's own class for an error with a code. */
  async next(Failure) {
    this.asked += 1;
    if (this.current === 'never') return new Promise(() => {});
    if (this.current.error) throw new Failure(this.current.error, 'no roots today');
    return { roots: this.current.roots.map((root) => ({ uri: pathToFileURL(root).href })) };
  },
};

let streamsRefused = 0;

/** A fetch that opens no stream of its own: the server can then only ask on the stream of a call. */
export function noStandingStream(url, options) {
  if (options?.method !== 'GET') return fetch(url, options);
  streamsRefused += 1;
  return new Response(null, { status: 405 });
}

/** Something that happens once. */
function event() {
  let happens;
  const happened = new Promise((resolve) => (happens = resolve));
  return { happens, happened };
}

let changed = event();

/** What an SDK is to do when it hears that the list of tools is another one. */
export const hear = () => changed.happens();

/** Where a tool has a schema for structured content, a refusal may be none. */
const refusal = (result) => result.structuredContent ?? result._meta?.['rootward.dev/refusal'];

/** Calls any tool; all that came of it. */
async function call(client, tool, options) {
  try {
    const result = await client.call(tool, options);
    const { content: shown, structuredContent: data } = result;
    return result.isError ? { failed: shown[0].text, code: refusal(result)?.code ?? null } : { shown, data };
  } catch (error) {
    return { error: error.code };
  }
}

/** A call that ends only after another one, which is made as soon as the client hears how far it is. */
async function callDuring(client, tool, other) {
  const began = event();
  const calling = call(client, tool, { onprogress: began.happens });
  await began.happened;
  say(await call(client, other));
  return calling;
}

/** A call that the user stops as soon as the client hears how far it is. */
async function takeBack(client, tool) {
  const [began, user] = [event(), new AbortController()];
  const calling = call(client, tool, { onprogress: began.happens, signal: user.signal });
  await began.happened;
  user.abort();
  await calling;
  return { gave_up: true };
}

/** How a tool is described, where every schema is one. */
async function describe(client, name) {
  changed = event();
  const { tools } = await client.listTools();
  // The SDK's own, which it uses for results only.
  const schemas = tools.flatMap((tool) => [tool.inputSchema, tool.outputSchema]);
  schemas.forEach((schema) => client._jsonSchemaValidator.getValidator(schema));
  return { description: tools.find((tool) => tool.name === name).description };
}

/** Calls the tool; what came of it. */
async function read(client, path, options) {
  try {
    const result = await client.call({ name: testCase.tool, arguments: { path } }, options);
    const { text } = result.content[0];
    if (!result.isError) return { text };
    const refused = refusal(result);
    return refused ? { code: refused.code } : { failed: text };
  } catch (error) {
    return { error: error.code };
  }
}

/** The names of all tools once there are so many, and how often they were listed: those of slow servers come when they are up. */
async function names(client, count) {
  for (let lists = 1; ; lists += 1) {
    changed = event();
    const { tools } = await client.listTools();
    if (tools.length >= count) return { names: tools.map((tool) => tool.name), lists };
    // A modern client hears of changes only while it listens, so it looks again.
    await Promise.race([changed.happened, new Promise((resolve) => setTimeout(resolve, 1000))]);
  }
}

async function isListed(client) {
  const { tools } = await client.listTools();
  return tools.some((tool) => tool.name === testCase.tool);
}

/** A call that waits for roots must not hold one that needs none. */
async function readBesideList(client, path) {
  let waiting = true;
  const call = read(client, path).finally(() => (waiting = false));
  while (!answers.asked) await after(0.01);
  const listed = await isListed(client);
  say({ listed, waiting });
  return Promise.race([call, after(testCase.patience, { gave_up: true })]);
}

/** A call that the user stops while the client is being asked for roots. */
async function giveUp(client, path) {
  const user = new AbortController();
  // Not waited for: where the SDK is busy with its own handler, it ends neither.
  read(client, path, { signal: user.signal });
  while (!answers.asked) await after(0.01);
  user.abort();
  return { gave_up: true };
}

/** Does what the case says. */
export async function run(client) {
  for (const step of testCase.steps) {
    if (step.answer) {
      answers.current = step.answer;
    } else if (step.announce) {
      await client.sendRootsListChanged();
    } else if (step.read) {
      say(await read(client, step.read));
    } else if (step.meanwhile) {
      say(await callDuring(client, step.call, step.meanwhile));
    } else if (step.call) {
      say(await call(client, step.call));
    } else if (step.take_back) {
      say(await takeBack(client, step.take_back));
    } else if (step.describe) {
      say(await describe(client, step.describe));
    } else if (step.names) {
      say(await names(client, step.names));
    } else if (step.hear) {
      await changed.happened;
      say({ heard: true });
    } else if (step.read_beside_list) {
      say(await readBesideList(client, step.read_beside_list));
    } else if (step.give_up) {
      say(await giveUp(client, step.give_up));
    } else if (step.list) {
      say({ listed: await isListed(client) });
    } else {
      throw new Error(`a step that is not known: ${JSON.stringify(step)}`);
    }
  }
  say({ asked: answers.asked, streams_refused: streamsRefused });
  await client.close();
  // A call that was given up may still wait.
  process.exit(0);
}
