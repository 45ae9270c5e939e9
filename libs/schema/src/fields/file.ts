import { boundedList } from '@recordbus/http/bounded-list';
import { isFileName } from '@recordbus/text/file-name';
import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, type ValueReader, ValueRefusal } from '../field-type.ts';
import { fileOperatorsOf } from './file-operators.ts';
import { listText, plainText } from './form-text.ts';
import { listMaxOf, listMaxOption, listNarrowings } from './list-max.ts';
import { listOf } from './list-of.ts';

/** `type/subtype` in the characters that RFC 6838 §4.2 allows, with `*` for any subtype or, alone, for any type. */
const mimePattern = /^(\*\/\*|[a-z0-9][a-z0-9!#$&^_.+-]*\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*))$/;

const flag = z.boolean('must be true or false').default(false);

/** A preview's size: 100x100, 0x100 or 100x0, with t, b or f after it (files §5.2). */
export const thumbSize = /^(?!0+x0+[tbf]?$)\d{1,4}x\d{1,4}[tbf]?$/;

/** A preview's longest side in pixels; it bounds the preview's cost. */
export const maxThumbSidePixels = 4096;

const thumbText = z
  .string('must be a string')
  .max(10, 'must be a size such as 100x100')
  .regex(thumbSize, 'must be a size such as 100x100, 0x100 or 100x100f')
  .refine((text) => text.split('x').every((side) => Number.parseInt(side, 10) <= maxThumbSidePixels), {
    error: `may have sides of at most ${maxThumbSidePixels}`,
  });

/** Options that let fewer callers download a file. */
const restrictions = ['viewRule', 'protected', 'requireAuth', 'oneTimeToken', 'bindTokenIp'] as const;

const options = z
  .strictObject({
    /** In bytes; 0 means no limit. */
    maxSize: z.int('must be a whole number of bytes').min(0, 'must be a whole number of bytes').default(0),
    mimeTypes: boundedList(
      z
        .string('must be a string')
        .toLowerCase()
        .regex(mimePattern, 'must be a content type such as image/png or image/*'),
      1000,
      'must be a list of content types',
    )
      .default([])
      .meta({ default: [] }),
    /** Preview sizes in addition to 100x100. Others are refused. */
    thumbs: boundedList(thumbText, 20, 'must be a list of sizes').default([]).meta({ default: [] }),
    multiple: flag,
    max: listMaxOption,
    /** Whether everyone with a file's address may download it, whatever the rules (files §7.6). */
    public: flag,
    protected: flag,
    /** Checked in addition to the collection's view rule, in the same language. */
    viewRule: z.string('must be an expression, empty or null').nullable().default(null),
    requireAuth: flag,
    oneTimeToken: flag,
    bindTokenIp: flag,
    auditDownloads: flag,
  })
  .superRefine((file, context) => {
    const contradicting = restrictions.find((name) => (name === 'viewRule' ? file.viewRule !== null : file[name]));
    if (file.public && contradicting)
      context.addIssue({ code: 'custom', path: ['public'], message: `contradicts ${contradicting}` });
  });

/** A file field's options. */
export type FileOptions = z.output<typeof options>;

/** Whether a download needs a token: one-time and bound tokens imply `protected` (files §7.2). */
export const needsToken = (file: FileOptions): boolean => file.protected || file.oneTimeToken || file.bindTokenIp;

const known = new WeakMap<Field, FileOptions>();

/** The options of a file field whose definition was checked. */
export function fileOptionsOf(field: Field): FileOptions {
  const found = known.get(field) ?? options.parse(field.options);
  known.set(field, found);
  return found;
}

/** Builds a file field's reader for a body without uploads, which can name no file. */
export const compileWithoutUploads =
  ({ options: { multiple } }: Field): ValueReader =>
  (value) =>
    multiple && Array.isArray(value) && value.length === 0
      ? '[]'
      : new ValueRefusal('can only be uploaded once the record exists');

/** Names of stored files; the bytes are elsewhere. The writer checks that a name belongs to the record. */
export const file: FieldType = {
  name: 'file',
  reference: 'fields §3.15',
  options,
  samples: [{ values: [] }, { options: { multiple: true }, values: [] }],
  emptyTextIsNull: true,
  columnType: (field) => (field.options.multiple ? 'jsonb' : 'text'),
  filterKind: (field) => (field.options.multiple ? 'list' : 'text'),
  viewType: undefined,
  formText: (field) => (field.options.multiple ? listText : plainText),
  // Without files the list is empty, not null (fields §2.3).
  emptyValue: (field) => (field.options.multiple ? '[]' : null),
  valueSchema: (field) => listOf(field, { type: 'string', description: "a stored file's name" }),
  writtenSchema(field) {
    const schema = file.valueSchema(field);
    return field.options.multiple ? listMaxOf(field, 'files').limit(schema) : schema;
  },
  compile(field) {
    const isName = (value: unknown) => typeof value === 'string' && isFileName(value);
    const refusal = new ValueRefusal("must be a stored file's name");
    if (!field.options.multiple) return (value) => (isName(value) ? value : refusal);
    const max = listMaxOf(field, 'files');
    return (value) => {
      if (!Array.isArray(value)) return new ValueRefusal('must be a list of names');
      if (!value.every(isName)) return refusal;
      const unique = [...new Set(value)];
      return max.isExceededBy(unique.length) ? max.refusal : JSON.stringify(unique);
    };
  },
  operators: (field) => (field.options.multiple ? fileOperatorsOf(field) : undefined),
  narrowings: listNarrowings,
};
