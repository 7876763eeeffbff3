// Renders openapi.json, with an example of every call and message.
import { toCurl, toFetch, toSocketSample } from './samples.js';

const element = (name, text = '', className = '') => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
};
const listOf = (items, className = '') => {
  const list = element('ul', '', className);
  list.append(...items);
  return list;
};
const sample = (title, text) => [element('h3', title), element('pre', text)];

function toSection({ address, path, method, operation, isOpen }) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const { schema, example: body } = requestBody?.content['application/json'] ?? {};
  const headers = Object.fromEntries(parameters.map(({ name, example }) => [name, example]));
  const call = { address, method, path, headers, body, isOpen };
  const section = toPart(`${method.toUpperCase()} ${path}`, summary);
  if (description !== undefined && description !== summary) section.append(element('p', description));
  if (schema?.properties !== undefined) section.append(...toFields(schema));
  const replies = Object.entries(responses).map(([status, one]) =>
    element('li', `${status}: ${one.description}`),
  );
  section.append(element('h3', 'Replies'), listOf(replies));
  if (responses['101'] === undefined)
    section.append(...sample('curl', toCurl(call)), ...sample('fetch', toFetch(call)));
  return section;
}

function toPart(title, summary) {
  const section = element('section');
  section.id = title.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
  section.append(element('h2', title), element('p', `${summary}.`));
  return section;
}

function toFields({ properties, required = [] }) {
  const items = Object.entries(properties).map(([name, { type, anyOf, enum: values, description = '' }]) => {
    const item = element('li');
    const kind = values?.join(' | ') ?? [type ?? anyOf?.map((one) => one.type) ?? 'any'].flat().join(' or ');
    const needed = required.includes(name) ? ', required' : '';
    item.append(element('code', `${name}: ${kind}${needed}`), element('span', description));
    return item;
  });
  return [element('h3', 'Fields'), listOf(items, 'commands')];
}

function toMessageSections(path, { client, server }) {
  const first = toPart(
    'Messages of the WebSocket',
    'Every message is a JSON object with type and these fields',
  );
  first.append(
    element(
      'p',
      'A page that nacre serves is identified by its cookie; other programs send the header Authorization.',
    ),
    ...sample('JavaScript', toSocketSample(path, client['shell.run'].example)),
  );
  const toMessage =
    (from) =>
    ([type, { schema, example }]) => {
      const section = toPart(type, from);
      section.append(...toFields(schema), ...sample('Example', JSON.stringify(example)));
      return section;
    };
  return [
    first,
    ...Object.entries(client).map(toMessage('From the client')),
    ...Object.entries(server).map(toMessage('From the server')),
  ];
}

const { paths, info, servers } = await (await fetch('/openapi.json')).json();
const address = servers[0].url;
const sections = Object.entries(paths).flatMap(([path, item]) => {
  const { security, parameters: _inPath, 'x-messages': messages, ...methods } = item;
  return [
    ...Object.entries(methods).map(([method, operation]) =>
      toSection({ address, path, method, operation, isOpen: security?.length === 0 }),
    ),
    ...(messages === undefined ? [] : toMessageSections(path, messages)),
  ];
});
const links = sections.map((section) => {
  const item = element('li');
  const link = element('a', section.querySelector('h2').textContent);
  link.href = `#${section.id}`;
  item.append(link);
  return item;
});
document.getElementById('contents').append(...links);
document.getElementById('content').append(...sections);
document.getElementById('status').textContent = `version ${info.version}`;
