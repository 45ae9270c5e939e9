import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, type Narrowing, Refusal, type ValueReader } from '../field-type.ts';
import { listOf } from './list-of.ts';

/** `type/subtype` in the characters of RFC 6838 §4.2, with `*` for any subtype or, alone, for any type. */
const mimePattern = /^(\*\/\*|[a-z0-9][a-z0-9!#$&^_.+-]*\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*))$/;

/** Stored names are ASCII: a slug, an underscore, ten random characters, an extension (contract §3). */
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

const flag = z.boolean('must be true or false').default(false);

const options = z.strictObject({
  /** Bytes; 0 is no limit. */
  maxSize: z.int('must be a whole number of bytes').min(0, 'must be a whole number of bytes').default(0),
  mimeTypes: z
    .array(
      z
        .string('must be a string')
        .toLowerCase()
        .regex(mimePattern, 'must be a content type such as image/png or image/*'),
      'must be a list of content types',
    )
    .default([]),
  multiple: flag,
  protected: flag,
  /** Asked beside the collection's view rule, in the same language. */
  viewRule: z.string('must be an expression, empty or null').nullable().default(null),
  requireAuth: flag,
  oneTimeToken: flag,
  bindTokenIp: flag,
  auditDownloads: flag,
});

/** The options of a file field, read. */
export type FileOptions = z.output<typeof options>;

/** Does a download need a token? One-time and bound tokens make no sense without (contract §3). */
export const needsToken = (file: FileOptions): boolean => file.protected || file.oneTimeToken || file.bindTokenIp;

/** Does a content type match one of the patterns? No patterns take every type. */
export function matchesMimeTypes(contentType: string, patterns: readonly string[]): boolean {
  const type = contentType.toLowerCase();
  return (
    patterns.length === 0 ||
    patterns.some((pattern) => pattern === '*/*' || pattern === type || isOfFamily(type, pattern))
  );
}

const isOfFamily = (type: string, pattern: string) => pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1));

/** The options of a file field whose definition was checked. */
export const fileOptionsOf = (field: Field): FileOptions => options.parse(field.options);

/** Builds the reader of a file field where nothing can be uploaded: it takes no name. */
export const compileWithoutUploads =
  ({ options: { multiple } }: Field): ValueReader =>
  (value) =>
    multiple && Array.isArray(value) && value.length === 0 ? '[]' : new Refusal('is uploaded when the record is there');

/** Names of stored files; the bytes are elsewhere. That a name is one of the record's own is the writer's to say. */
export const file: FieldType = {
  name: 'file',
  options,
  emptyTextIsNull: true,
  columnType: (field) => (field.options.multiple ? 'jsonb' : 'text'),
  // Contract §3: an empty list of files is `[]`.
  emptyValue: (field) => (field.options.multiple ? '[]' : null),
  valueSchema: (field) => listOf(field, { type: 'string', description: 'name of a stored file' }),
  compile(field) {
    const isName = (value: unknown) => typeof value === 'string' && namePattern.test(value);
    const refusal = new Refusal('must be the name of a stored file');
    if (!field.options.multiple) return (value) => (isName(value) ? value : refusal);
    return (value) => {
      if (!Array.isArray(value)) return new Refusal('must be a list of names');
      return value.every(isName) ? JSON.stringify([...new Set(value)]) : refusal;
    };
  },
  narrowings(before, after, column): readonly Narrowing[] {
    return before.options.multiple && !after.options.multiple
      ? [{ option: 'multiple', where: `jsonb_array_length(${column}) > 1` }]
      : [];
  },
};
