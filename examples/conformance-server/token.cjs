// Adds the front's token to every request of the suite, which has no option for it.
const net = require('net');
const write = net.Socket.prototype.write;
const head = /^(POST|GET|DELETE) \/mcp HTTP\/1\.1\r\n/;
net.Socket.prototype.write = function (chunk, ...rest) {
  const text = typeof chunk === 'string' ? chunk : Buffer.isBuffer(chunk) ? chunk.toString('latin1') : '';
  if (head.test(text) && !/\r\nauthorization:/i.test(text.split('\r\n\r\n')[0])) {
    const changed = text.replace('\r\n', '\r\nauthorization: Bearer conformance\r\n');
    chunk = typeof chunk === 'string' ? changed : Buffer.from(changed, 'latin1');
  }
  return write.call(this, chunk, ...rest);
};
