// Adds the token of ROOTWARD_TOKEN to every request of this program. The suite has no option for a token.
import { subscribe } from "node:diagnostics_channel";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";

const bearer = `Bearer ${process.env.ROOTWARD_TOKEN}`;

// For `fetch` and the package `undici`.
subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", bearer));

const original = http.request;
http.request = (...given) => {
  const request = original(...given);
  request.setHeader("authorization", bearer);
  return request;
};
syncBuiltinESMExports();
