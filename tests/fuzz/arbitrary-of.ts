import fc from 'fast-check';
import type { JsonObject } from '../harness/json.ts';
import { find } from './operations.ts';

type Schema = JsonObject;

/** Texts that often reveal defects. */
const awkward = fc.constantFrom(
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'null',
  "'; drop table x; --",
  '%00',
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  '😀'.repeat(300),
  '__proto__',
  '@request.auth.id',
  'a'.repeat(5000),
);

const [firstSurrogate, surrogates, lastCharacter] = [0xd800, 0x800, 0x10ffff];

/** Any Unicode character. fast-check's unit `binary` lists all of them first, which takes a second on a core. */
const anyCharacter = fc
  .nat(lastCharacter - surrogates)
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates));

/** Any text at all. */
export const anyText = fc.oneof({ weight: 3, arbitrary: fc.string() }, fc.string({ unit: anyCharacter }), awkward);

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  awkward,
  fc.constantFrom(null, 0, -1, 1e308, -0, [], {}, true, 2 ** 53, 0.1),
);

/** How many levels deep a value may be; below them, lists and objects stay empty. */
const maxDepth = 5;

/** Values for a JSON Schema in the document. At every level, `refuse` percent of the values do not match. */
export function arbitraryOf(document: unknown, schema: Schema, refuse: number, depth = 0): fc.Arbitrary<unknown> {
  const next = (inner: unknown) => arbitraryOf(document, (inner ?? {}) as Schema, refuse, depth + 1);
  return fc.oneof(
    { weight: 100 - refuse, arbitrary: fitting(document, schema, depth, next) },
    { weight: refuse, arbitrary: anyJson },
  );
}

type Next = (schema: unknown) => fc.Arbitrary<unknown>;

function fitting(document: unknown, schema: Schema, depth: number, next: Next): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === 'string') return next(find(document, schema.$ref.slice(2).split('/')));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return fc.oneof(...choices.map(next));
  const types = [schema.type].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, depth, next)));
}

function ofType(type: unknown, schema: Schema, depth: number, next: Next): fc.Arbitrary<unknown> {
  const bounds = bound(schema);
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.ceil(bounds.min), max: Math.floor(bounds.max) });
    case 'number':
      return fc.double({ ...bounds, noNaN: true });
    case 'string':
      return textOf(schema);
    case 'array':
      return fc.array(next(schema.items), listLengths(schema, depth));
    case 'object':
      return objectOf(schema, depth, next);
    default:
      return anyJson;
  }
}

const bound = ({ minimum = -1e9, maximum = 1e9 }: Schema) => ({
  min: Math.max(Number(minimum), Number.MIN_SAFE_INTEGER),
  max: Math.min(Number(maximum), Number.MAX_SAFE_INTEGER),
});

const listLengths = ({ minItems = 0, maxItems }: Schema, depth: number) => ({
  minLength: Number(minItems),
  maxLength: depth > maxDepth ? Number(minItems) : Number(maxItems ?? Number(minItems) + 3),
});

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.emailAddress(),
  uri: fc.webUrl(),
  uuid: fc.uuid(),
};

function textOf({ format, pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
  const known = formats[String(format)];
  if (known) return known;
  if (typeof pattern === 'string') return matching(pattern);
  const least = Number(minLength);
  if (least === 0 && maxLength === undefined) return anyText;
  return fc.string({ unit: 'grapheme-ascii', minLength: least, maxLength: Number(maxLength ?? least + 30) });
}

/** Texts that match a pattern; any text for a pattern that JavaScript cannot read. */
function matching(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern, 'u'));
  } catch {
    return anyText;
  }
}

/** Members that the schema does not name; usually none. */
const unwanted = fc.oneof(
  { weight: 20, arbitrary: fc.constant({}) },
  fc.dictionary(fc.constantFrom('colour', 'constructor', 'id', '', '\u0000', 'a'.repeat(300)), anyJson, { maxKeys: 2 }),
);

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, depth: number, next: Next) {
  if (depth > maxDepth) return fc.constant({});
  const model = Object.fromEntries(
    Object.entries(properties as JsonObject).map(([name, inner]) => [name, next(inner)]),
  );
  const given = fc.record(model, { requiredKeys: (required as string[]).filter((name) => name in model) });
  if (typeof additionalProperties !== 'object')
    return fc.tuple(unwanted, given).map(([some, own]) => ({ ...some, ...own }));
  const more = fc.dictionary(fc.string({ minLength: 1 }), next(additionalProperties), { maxKeys: 3 });
  return fc.tuple(more, given).map(([some, own]) => ({ ...some, ...own }));
}
