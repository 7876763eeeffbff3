// Examples of calls, as text: for a terminal (curl), for programs (fetch) and for the WebSocket.

/** A curl command line; the shell variable TOKEN has the token. */
export function toCurl({ address, method, path, headers, body, isOpen }) {
  const flags = [
    ...(isOpen ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
  ];
  const verb = method === 'get' || body !== undefined ? '' : `-X ${method.toUpperCase()} `;
  return [`curl -s ${verb}${address}${path}`, ...flags].join(' \\\n  ');
}

/** JavaScript for Node.js and for pages; `token` is a variable of the program. */
export function toFetch({ address, method, path, headers, body, isOpen }) {
  const given = [
    ...(isOpen ? [] : ["    Authorization: 'Bearer ' + token,"]),
    ...Object.entries(headers).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},`),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'get' ? [] : [`  method: '${method.toUpperCase()}',`]),
    ...(given.length === 0 ? [] : ['  headers: {', ...given, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${toLiteral(body)}),`]),
  ];
  const more = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch('${address}${path}'${more});\nconsole.log(response.status, await response.text());`;
}

/** JavaScript for a page that nacre serves; `message` is the first one it sends. */
export function toSocketSample(path, message) {
  return [
    `const socket = new WebSocket(location.origin.replace('http', 'ws') + '${path}');`,
    `socket.onopen = () => socket.send(JSON.stringify(${toLiteral(message)}));`,
    'socket.onmessage = ({ data }) => console.log(JSON.parse(data));',
  ].join('\n');
}

function toLiteral(value) {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}

function quote(text) {
  return `'${text.replaceAll("'", "'\\\\''")}'`;
}
