import { expect, it } from 'vitest';
import { defineSettings } from './define.ts';
import { s } from './schema.ts';
import { toReference } from './to-reference.ts';

it('writes one section per setting, under the heading of its group', () => {
  const reference = toReference({
    Memory: defineSettings({
      verbose: s.boolean().default(false).meta({ description: 'Says more.' }),
      ringBytes: s
        .int()
        .min(0)
        .max(9)
        .default(8)
        .meta({
          env: ['A', 'B'],
          flag: '--ring-bytes',
          description: 'Bytes kept.',
          accepts: 'this|that',
          project: 'lower',
        }),
    }),
  });
  expect(reference.slice(reference.indexOf('## Memory'))).toBe(`## Memory

### verbose

Says more.

| | |
|---|---|
| flag | none |
| environment | none |
| values | true or false |
| default | false |
| project file | cannot set it |

### ring_bytes

Bytes kept.

| | |
|---|---|
| flag | \`--ring-bytes\` |
| environment | \`A\`, \`B\` |
| values | this\\|that |
| default | 8 |
| project file | can only lower it |
`);
});
