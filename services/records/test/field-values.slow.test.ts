import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { type Field, type FieldType, fieldTypes } from '@recordbus/schema';
import { anyCharacter } from '@recordbus/testing/random';
import fc from 'fast-check';
import { type RecordsFixture, type ShownRecord, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { type TestField, testCollection } from './test-collection.ts';

/** A field, valid values, and how they are shown. */
interface Kind {
  readonly field: Omit<TestField, 'name'> & Pick<Field, 'type'>;
  readonly valid: fc.Arbitrary<unknown>;
  /** Values that every run writes. */
  readonly samples?: readonly unknown[];
  /** How an accepted value is shown; by default as it was written. */
  readonly reads?: (written: unknown) => unknown;
  /** Whether "" is a value. */
  readonly keepsEmptyText?: boolean;
  /** How a missing value is shown; by default as null. */
  readonly empty?: unknown;
}

const storable = fc.string({ unit: anyCharacter, maxLength: 40 }).filter((text) => !text.includes('\0'));
const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
const json = fc.jsonValue({ stringUnit: 'binary' }).filter((value) => !JSON.stringify(value).includes('\\u0000'));
const isoDate = fc
  .date({ min: new Date(-1e14), max: new Date(1e14), noInvalidDate: true })
  .map((date) => date.toISOString());
const choices = ['red', 'ünd 😀', '0'];
const distinct = (list: unknown) => (Array.isArray(list) ? [...new Set(list)] : list);
/** The fraction goes first, because the last second that `Date.parse` reads has none. */
const seconds = (written: unknown) =>
  typeof written === 'string' ? Date.parse(written.replace(/\.\d+/, '')) / 1000 : Math.floor(Number(written));
const hidden = () => undefined;
const oneTarget = '0197a000-0000-7000-8000-000000000001';

const plainKinds: Readonly<Record<string, Kind>> = {
  text: { field: { type: 'text' }, valid: storable, keepsEmptyText: true },
  textBounded: {
    field: { type: 'text', options: { min: 2, max: 5, pattern: '^[a-z😀]+$' } },
    valid: fc.string({ unit: fc.constantFrom('a', 'z', '😀'), minLength: 2, maxLength: 5 }),
    keepsEmptyText: true,
  },
  textRequired: { field: { type: 'text', required: true }, valid: storable.filter((text) => text !== '') },
  textUnique: {
    field: { type: 'text', options: { unique: true } },
    valid: fc.uuid(),
    keepsEmptyText: true,
  },
  number: { field: { type: 'number' }, valid: finite },
  numberBounded: { field: { type: 'number', options: { min: -1.5, max: 1e300 } }, valid: degrees(1.5) },
  bool: { field: { type: 'bool' }, valid: fc.boolean() },
  boolRequired: { field: { type: 'bool', required: true }, valid: fc.boolean() },
  email: { field: { type: 'email' }, valid: fc.emailAddress(), keepsEmptyText: true },
  url: { field: { type: 'url' }, valid: fc.webUrl({ withQueryParameters: true }), keepsEmptyText: true },
  date: {
    field: { type: 'date' },
    valid: fc.oneof(fc.double({ min: -1e11, max: 1e11, noNaN: true }), isoDate),
    reads: seconds,
  },
  autodate: {
    field: { type: 'autodate', options: { onCreate: false, onUpdate: false } },
    valid: json,
    reads: () => null,
  },
  select: { field: { type: 'select', options: { values: choices } }, valid: fc.constantFrom(...choices) },
  selectMultiple: {
    field: { type: 'select', options: { values: choices, multiple: true } },
    valid: fc.array(fc.constantFrom(...choices)),
    reads: distinct,
  },
  relation: { field: { type: 'relation', collection: 'targets' }, valid: fc.constant(oneTarget) },
  json: { field: { type: 'json' }, valid: json, keepsEmptyText: true },
  jsonRequired: {
    field: { type: 'json', required: true },
    valid: json.filter((value) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)),
  },
  password: {
    field: { type: 'password', options: { max: 60 } },
    valid: storable.filter((text) => text !== ''),
    reads: hidden,
  },
  editor: { field: { type: 'editor', options: { max: 60 } }, valid: storable, keepsEmptyText: true },
  geoPoint: { field: { type: 'geoPoint' }, valid: fc.record({ lat: degrees(90), lng: degrees(180) }) },
  vector: {
    field: { type: 'vector', options: { dimensions: 3 } },
    valid: fc.array(finite, { minLength: 3, maxLength: 3 }),
  },
  file: { field: { type: 'file', options: {} }, valid: fc.constant(null) },
  fileMultiple: { field: { type: 'file', options: { multiple: true } }, valid: fc.constantFrom(null, []), empty: [] },
};

/** Returns the encrypted variant of the types that can be encrypted: readers see no difference. */
const encrypted = (kinds: Readonly<Record<string, Kind>>): Readonly<Record<string, Kind>> =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([name, kind]): [string, Kind][] => {
      const options = { ...kind.field.options, encrypted: true };
      if (kind.field.required || !fieldTypes.get(kind.field.type)?.options.safeParse(options).success) return [];
      return [[`${name}Encrypted`, { ...kind, field: { ...kind.field, options } }]];
    }),
  );

/** The type's samples. A new type is tested only with them. */
const samplesOf = (type: FieldType): [string, Kind][] =>
  type.samples.map(({ options, values }, index) => {
    const name = `${type.name}Sample${index + 1}`;
    const field = {
      type: type.name,
      options: type.options.parse(options ?? {}),
      ...(type.refersToCollection && { collection: 'targets' }),
    };
    const [complete] = testCollection('samples', [{ name, ...field }]).fields;
    assert.ok(complete);
    const kind = {
      field,
      valid: fc.constantFrom(...(values.length > 0 ? values : [null])),
      samples: values,
      keepsEmptyText: !type.emptyTextIsNull,
      empty: JSON.parse(String(type.emptyValue?.(complete) ?? null)),
      ...(type.isWriteOnly && { reads: hidden }),
    };
    return [name, kind];
  });

const plainSamples = Object.fromEntries(
  [...fieldTypes.values()].filter((type) => !type.isServerSet).flatMap(samplesOf),
);
const encryptedKinds = encrypted({ ...plainKinds, ...plainSamples });
const kinds: Readonly<Record<string, Kind>> = { ...plainKinds, ...plainSamples, ...encryptedKinds };

/** Values for required fields that are not under test. */
const mandatory = { textRequired: 'x', boolRequired: true, jsonRequired: 1 };

/** JSON that is difficult for JavaScript, for PostgreSQL, or for code that reads it as an object. */
const hard = [
  ...['null', '""', '" "', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"x\\udc00y"', '"\\ufeff"', '"\\u202e"'],
  ...['-0', '1e400', '-1e400', '1e-400', '1.7976931348623157e308', '5e-324', '9007199254740993', '0.1', '1e21'],
  ...['[]', '[null]', '[[]]', '{}', '{"__proto__":1}', '{"constructor":{"prototype":[]}}', '{"toString":null}'],
  ...['{"a\\u0000":1}', '{"\\ud800":1}', '{"a":1e400}', '{"a":1,"a":2}', '{"":""}', '{"lat":1,"lng":1e400}'],
  ...['[1,2,1e400]', '[1,2,"3"]', '{"lat":91,"lng":0}', '{"lat":0,"lng":0,"z":0}', '["red","red"]', '{"0":"red"}'],
  ...['"2026-13-45"', '"+275760-09-13T00:00:00.001Z"', '8640000000001', '"1e3"', '"true"', '"NaN"', '"Infinity"'],
  ...['"+275760-09-13T00:00:01Z"'],
  ...['"http://"', '"http://[::1"', '"HTTP://a.b"', '"a@b.c "', '"a@b"', '"../../etc/passwd"', '["a.png"]', '"a.png"'],
  ...['"\'; drop table records.items; --"', '"{1,2,3}"', '"\\\\x00"', '"$1"', '"enc:1:a:b"', '"\\\\u0000"'],
  ...[`"${'x'.repeat(2601)}"`, `"${'ä😀'.repeat(20_000)}"`, `${'['.repeat(500)}${']'.repeat(500)}`],
  `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`,
];

const anyJson = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hard) },
  { weight: 2, arbitrary: fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value)) },
  {
    weight: 2,
    arbitrary: fc.oneof(...Object.values(kinds).map(({ valid }) => valid)).map((value) => JSON.stringify(value)),
  },
);

/** Whether only one record may have a value. */
const isUnique = ({ field }: Kind): boolean => Object(field.options).unique === true;

/** A document as readers get it: JSON distinguishes 0 and -0, columns do not. */
const parse = (text: string): unknown => JSON.parse(text, (_, value) => (value === 0 ? 0 : value));

const collection = testCollection(
  'items',
  Object.entries(kinds).map(([name, { field }]) => ({ name, ...field })),
  { historyEnabled: true },
);

describe('any field value', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  before(async () => {
    records = await startRecords([testCollection('targets', []), collection], { cipher: createValueCipher('a key') });
    await records.database.query({
      text: 'insert into records.targets (id, created_at, updated_at) values ($1, 1, 1)',
      values: [oneTarget],
    });
  });
  after(() => records?.stop());

  /** Writes a value's JSON to a field in a new record; undefined when it is refused. */
  async function create(name: string, written: string): Promise<ShownRecord | undefined> {
    const others = Object.entries(mandatory).filter(([other]) => other !== name);
    const members = [...others.map(([other, value]) => `"${other}":${JSON.stringify(value)}`), `"${name}":${written}`];
    const { status, text, json, record } = await records.send('POST', '/api/items', { body: `{${members}}` });
    if (status === 201) return record;
    const named = Object.keys(json.details ?? {}).map((place) => place.split('.')[0]);
    assert.deepEqual([status, named], [422, [name]], text);
    return undefined;
  }

  /** A field's expected value after the JSON was written to it. */
  function expectedOf({ reads = (written) => written, keepsEmptyText, empty = null }: Kind, written: string): unknown {
    const value = parse(written);
    if (reads === hidden) return undefined;
    return value === null || (value === '' && !keepsEmptyText) ? empty : reads(value);
  }

  /** The members that a write does not change. */
  const withoutTime = ({ updated, ...rest }: ShownRecord) => rest;

  // Samples do not define how other values are shown.
  for (const [name, kind] of Object.entries({ ...plainKinds, ...encrypted(plainKinds) })) {
    it(`is read back unchanged or refused by name: ${name}`, async () => {
      const property = fc.asyncProperty(anyJson, async (written) => {
        const created = await create(name, written);
        if (!created) return;
        assert.deepEqual(created[name], expectedOf(kind, written));
        assert.deepEqual((await records.send('GET', `/api/items/${created.id}`)).record, created);
      });
      await fc.assert(property, { numRuns: 25, seed: 1 });
    });
  }

  for (const [name, kind] of Object.entries(kinds)) {
    it(`is accepted if it is valid, even when sent back, and is restored: ${name}`, async () => {
      const property = fc.asyncProperty(kind.valid, async (value) => {
        const written = JSON.stringify(value);
        const created = await create(name, written);
        assert.ok(created, `${written} is refused`);
        assert.deepEqual(created[name], expectedOf(kind, written));
        const path = `/api/items/${created.id}`;
        const sentBack = await records.send('PATCH', path, { body: created });
        assert.deepEqual(withoutTime(sentBack.record), withoutTime(created), sentBack.text);
        const emptied = await records.send('PATCH', path, { body: { [name]: null } });
        assert.equal(emptied.status, kind.field.required ? 422 : 200, emptied.text);
        const restored = await records.send('POST', `${path}/restore?version=${created.updated}`, { as: 'admin' });
        assert.deepEqual(withoutTime(restored.record), withoutTime(created), restored.text);
        if (isUnique(kind)) assert.equal((await records.send('DELETE', path, { as: 'admin' })).status, 200);
      });
      const { samples = [] } = kind;
      await fc.assert(property, {
        numRuns: Math.max(4, samples.length),
        seed: 1,
        examples: samples.map((value): [unknown] => [value]),
      });
    });
  }

  it('is encrypted for an encrypted field, in the row and in its history', async () => {
    for (const [name, { field }] of Object.entries(encryptedKinds)) {
      const text = field.type === 'json' ? `("${name}" #>> '{}')` : `"${name}"`;
      const empty = field.type === 'json' ? `"${name}" in ('""', '[]')` : `"${name}" = ''`;
      const [row] = await records.database.query<{ encrypted: number; plain: number }>({
        text: `select count(*) filter (where ${text} like 'enc:1:%')::int as encrypted,
          count(*) filter (where ${text} not like 'enc:1:%' and not ${empty})::int as plain from records.items`,
        values: [],
      });
      assert.equal(row?.plain, 0, name);
      assert.ok(row && row.encrypted > 0, name);
      const plain = await records.database.query<{ value: string }>({
        text: `select snapshot ->> $1 as value from history.items
          where snapshot ->> $1 not like 'enc:1:%' and snapshot ->> $1 not in ('', '[]')`,
        values: [name],
      });
      assert.deepEqual(plain, [], name);
    }
  });

  it('is refused with 400 when it nests too deeply', async () => {
    const depth = 20_000;
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const name of Object.keys(kinds)) {
      const { status, json } = await records.send('POST', '/api/items', { body: `{"${name}":${nested}}` });
      assert.deepEqual([status, json.code], [400, 'malformed_request'], name);
    }
  });
});
