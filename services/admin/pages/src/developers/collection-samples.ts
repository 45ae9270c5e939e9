import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';
import type { AnyRecord } from '../api/records.ts';

/** One call, in the client and with curl. */
export interface Sample {
  readonly name: string;
  readonly about: string;
  readonly client: string;
  readonly curl: string;
}

/** Examples for a collection without records. */
const examples: Readonly<Record<string, unknown>> = {
  text: 'A text',
  editor: '<p>A text</p>',
  number: 1,
  bool: true,
  date: 1_767_225_600,
  json: {},
  email: 'ada@example.com',
  url: 'https://example.com',
  geoPoint: { lat: 48.21, lng: 16.37 },
  password: 'a long enough password',
};

/** Types that a JSON body does not set: the server sets them, or they need a file. */
const notWritten: readonly string[] = ['autodate', 'file'];

function sampleValue({ name, type, options }: FieldDefinition, record: AnyRecord | undefined): unknown {
  const stored = record?.[name];
  if (stored === undefined || stored === null) {
    if (type === 'select') {
      const [first] = (options?.values ?? []) as readonly unknown[];
      return options?.multiple === true ? [first] : first;
    }
    return examples[type];
  }
  // A second record cannot have the same value.
  return options?.unique === true && typeof stored === 'string' && type === 'text' ? `${stored} 2` : stored;
}

/** Returns a body for a create: required fields, and the first few others. */
function bodyOf({ fields, type }: CollectionDefinition, record: AnyRecord | undefined): Record<string, unknown> {
  const written = fields.filter((field) => !notWritten.includes(field.type));
  const chosen = [
    ...written.filter(({ required }) => required),
    ...written.filter(({ required }) => !required).slice(0, 5),
  ];
  const values = chosen.map((field) => [field.name, sampleValue(field, record)] as const);
  const account = type === 'auth' ? { email: 'ada@example.com', password: examples.password } : {};
  return { ...Object.fromEntries(values.filter(([, value]) => value !== undefined)), ...account };
}

/** Returns one value to change. A unique one is the record's own, since another record may have the create's. */
function changeOf(
  { fields }: CollectionDefinition,
  record: AnyRecord | undefined,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const isUnique = ({ options }: FieldDefinition): boolean => options?.unique === true;
  const written = fields.filter(({ name, type }) => name in body && type !== 'password' && type !== 'email');
  const field = written.find((one) => !isUnique(one)) ?? written[0];
  return field ? { [field.name]: isUnique(field) && record ? record[field.name] : body[field.name] } : {};
}

const textOf = (value: unknown): string => JSON.stringify(value, null, 2);

/** Quotes a text for a shell. */
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A string for JavaScript. JSON is one, except where it is nicer with single quotes. */
const script = (text: string): string => (/^[\w-]+$/.test(text) ? `'${text}'` : JSON.stringify(text));

const authorization = '-H "Authorization: Bearer $TOKEN"';

/** The first lines of a program that uses the client. */
export const beginning = (origin: string): string => `import { createClient } from '@recordbus/client';

const client = createClient('${origin}', { token: process.env.TOKEN });
`;

/** Returns a collection's calls, with a real record's values where there is one. */
export function samplesOf(
  collection: CollectionDefinition,
  record: AnyRecord | undefined,
  origin: string,
): readonly Sample[] {
  const { name } = collection;
  const from = `client.from(${script(name)})`;
  const id = record?.id ?? 'id';
  const path = `${origin}/api/v1/records/${encodeURIComponent(name)}`;
  const one = shell(`${path}/${encodeURIComponent(id)}`);
  const body = bodyOf(collection, record);
  const change = changeOf(collection, record, body);
  const sort = collection.type === 'view' ? 'id' : '-created';
  const send = (method: string, to: string, json: unknown): string =>
    `curl -X ${method} ${to} ${authorization} \\\n  -H 'Content-Type: application/json' -d ${shell(textOf(json))}`;
  const reads: Sample[] = [
    {
      name: 'List',
      about: 'A page with the newest records. Add filter, fields and expand as needed.',
      client: `const page = await ${from}.list({ perPage: 20, sort: '${sort}' });`,
      curl: `curl -G ${shell(path)} ${authorization} \\\n  --data-urlencode 'perPage=20' --data-urlencode 'sort=${sort}'`,
    },
    {
      name: 'Get',
      about: record ? 'One record, by its ID.' : 'One record. Replace id with its ID.',
      client: `const record = await ${from}.get(${script(id)});`,
      curl: `curl ${one} ${authorization}`,
    },
  ];
  if (collection.type === 'view') return reads;
  return [
    ...reads,
    {
      name: 'Create',
      about: 'Files go as a form instead.',
      client: `const created = await ${from}.create(${textOf(body)});`,
      curl: send('POST', shell(path), body),
    },
    {
      name: 'Update',
      about: 'Changes only what it sends.',
      client: `const updated = await ${from}.update(${script(id)}, ${textOf(change)});`,
      curl: send('PATCH', one, change),
    },
    {
      name: 'Delete',
      about: record ? 'Deletes this record for real.' : 'Replace id with its ID.',
      client: `await ${from}.delete(${script(id)});`,
      curl: `curl -X DELETE ${one} ${authorization}`,
    },
    {
      name: 'Live',
      about: 'The current records, and then each change as it happens.',
      client: `const list = await ${from}.live({ sort: '-created', limit: 20 });\nlist.onChange((records) => console.log(records));`,
      curl: `curl -N -G ${shell(`${origin}/api/v1/realtime`)} ${authorization} \\\n  --data-urlencode ${shell(`subscribe=${JSON.stringify({ collection: name })}`)}`,
    },
  ];
}
