// Renders openapi.json.
const element = (name, text = '') => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};

function toSection(path, method, { summary, description, requestBody, responses }) {
  const section = document.createElement('section');
  section.append(element('h2', `${method.toUpperCase()} ${path}`), element('p', summary));
  if (description !== undefined && description !== summary) section.append(element('p', description));
  const fields = requestBody?.content['application/json'].schema;
  if (fields !== undefined) section.append(toFields(fields));
  const replies = Object.entries(responses).map(([status, one]) =>
    element('li', `${status}: ${one.description}`),
  );
  const list = element('ul');
  list.append(...replies);
  section.append(list);
  return section;
}

function toFields({ properties, required = [] }) {
  const list = element('ul');
  list.className = 'commands';
  for (const [name, { type, description = '' }] of Object.entries(properties ?? {})) {
    const item = element('li');
    const needed = required.includes(name) ? ', required' : '';
    item.append(
      element('code', `${name}: ${type ?? 'see openapi.json'}${needed}`),
      element('span', description),
    );
    list.append(item);
  }
  return list;
}

const { paths, info } = await (await fetch('/openapi.json')).json();
const sections = Object.entries(paths).flatMap(([path, { security: _security, ...methods }]) =>
  Object.entries(methods).map(([method, operation]) => toSection(path, method, operation)),
);
document.getElementById('content').append(...sections);
document.getElementById('status').textContent = `version ${info.version}`;
