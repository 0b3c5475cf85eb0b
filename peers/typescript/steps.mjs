// The steps of a case, the same for every TypeScript client.
//
// A case is one JSON argument: how to reach the server, and the steps in order. Each step with an outcome prints it as a line of
// JSON. The program that starts this client judges the outcomes (`interop/src/peers`, `interop/src/hub`).

import { pathToFileURL } from 'node:url';

export const testCase = JSON.parse(process.argv[2]);

export const say = (outcome) => console.log(JSON.stringify(outcome));

const after = (seconds, value) => new Promise((resolve) => setTimeout(resolve, seconds * 1000, value));

/** How the client answers a request for its roots, and how often it was asked. */
export const answers = {
  asked: 0,
  current: { roots: [] },

  /** `Failure` is the SDK's class for an error with a code. */
  async next(Failure) {
    this.asked += 1;
    if (this.current === 'never') return new Promise(() => {});
    if (this.current.error) throw new Failure(this.current.error, 'no roots today');
    return { roots: this.current.roots.map((root) => ({ uri: pathToFileURL(root).href })) };
  },
};

let streamsRefused = 0;

/** A fetch that refuses the GET stream, so that the server can send requests only on the stream of a call. */
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

/** The SDK calls this when the list of tools changed. */
export const hear = () => changed.happens();

/** The data of a refusal. It is in `_meta` if it would not fit the tool's output schema. */
const refusal = (result) => result.structuredContent ?? result._meta?.['rootward.dev/refusal'];

/** Calls any tool. Returns the whole outcome. */
async function call(client, tool, options) {
  try {
    const result = await client.call(tool, options);
    const { content: shown, structuredContent: data } = result;
    return result.isError ? { failed: shown[0].text, code: refusal(result)?.code ?? null } : { shown, data };
  } catch (error) {
    return { error: error.code };
  }
}

/** Makes a call, and another one at its first progress notification. The first call ends only after the second. */
async function callDuring(client, tool, other) {
  const began = event();
  const calling = call(client, tool, { onprogress: began.happens });
  await began.happened;
  say(await call(client, other));
  return calling;
}

/** Makes a call and cancels it at its first progress notification. */
async function takeBack(client, tool) {
  const [began, user] = [event(), new AbortController()];
  const calling = call(client, tool, { onprogress: began.happens, signal: user.signal });
  await began.happened;
  user.abort();
  await calling;
  return { gave_up: true };
}

/** The description of a tool. Fails if the schema of any tool is invalid. */
async function describe(client, name) {
  changed = event();
  const { tools } = await client.listTools();
  // The SDK's own validator. The SDK itself uses it only for results.
  const schemas = tools.flatMap((tool) => [tool.inputSchema, tool.outputSchema]);
  schemas.forEach((schema) => client._jsonSchemaValidator.getValidator(schema));
  return { description: tools.find((tool) => tool.name === name).description };
}

/** Calls the tool that reads a file. Returns the outcome. */
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

/** Lists the tools until there are `count`: slow servers add theirs late. Returns their names and the number of lists. */
async function names(client, count) {
  for (let lists = 1; ; lists += 1) {
    changed = event();
    const { tools } = await client.listTools();
    if (tools.length >= count) return { names: tools.map((tool) => tool.name), lists };
    // A modern client is notified of changes only if it subscribes, so it polls.
    await Promise.race([changed.happened, new Promise((resolve) => setTimeout(resolve, 1000))]);
  }
}

async function isListed(client) {
  const { tools } = await client.listTools();
  return tools.some((tool) => tool.name === testCase.tool);
}

/** Reads a file, and lists the tools meanwhile: a call that waits for roots must not block one that needs none. */
async function readBesideList(client, path) {
  let waiting = true;
  const call = read(client, path).finally(() => (waiting = false));
  while (!answers.asked) await after(0.01);
  const listed = await isListed(client);
  say({ listed, waiting });
  return Promise.race([call, after(testCase.patience, { gave_up: true })]);
}

/** Makes a call and cancels it when the client is asked for its roots. */
async function giveUp(client, path) {
  const user = new AbortController();
  // Do not await the call: if the SDK is busy with its own handler, the call does not end.
  read(client, path, { signal: user.signal });
  while (!answers.asked) await after(0.01);
  user.abort();
  return { gave_up: true };
}

/** Carries out the steps of the case. */
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
      throw new Error(`unknown step: ${JSON.stringify(step)}`);
    }
  }
  say({ asked: answers.asked, streams_refused: streamsRefused });
  await client.close();
  // A cancelled call may still be waiting.
  process.exit(0);
}
