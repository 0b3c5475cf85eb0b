// The reference file server's path validation, timed in its own process.
//
// Arguments: the package's file that validates, the allowed directory, the path. Each line of stdin is a number of
// calls; the answer is a line with the nanoseconds that one of them took.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [library, directory, path] = process.argv.slice(2);
const { setAllowedDirectories, validatePath } = await import(pathToFileURL(library).href);
setAllowedDirectories([directory]);
if ((await validatePath(path)) !== path) throw new Error("the path was not validated");

for await (const line of createInterface({ input: process.stdin })) {
  const calls = Number(line);
  const start = process.hrtime.bigint();
  for (let call = 0; call < calls; call++) await validatePath(path);
  console.log(Number(process.hrtime.bigint() - start) / calls);
}
