import type { StoredCollection, StoredField } from './definition.ts';
import type { Note } from './note.ts';

/** A field's definition here. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly collection?: string;
  readonly view_rule?: string | null;
  readonly write_rule?: string | null;
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What a field's translation needs to know about the others. */
export interface FieldContext {
  readonly collection: StoredCollection;
  /** The field's name here. */
  readonly name: string;
  /** A relation target's name here; undefined when no relation can refer to it. */
  targetOf(collectionId: string): string | undefined;
  /** How many records have no value, where PocketBase requires one. */
  readonly lacking: number;
  note(kind: Note['kind'], text: string): void;
}

type Options = Record<string, unknown>;

/** What PocketBase stores for a field that a create does not name. Create rules see it. */
const stored: Readonly<Record<string, unknown>> = { number: 0, bool: false, text: '', editor: '', email: '', url: '' };

/** PocketBase's limit for a file field that has none. */
const defaultFileBytes = 5 * 1024 * 1024;

const isPositive = (value: unknown): value is number => typeof value === 'number' && value > 0;

/** Translates a field. Undefined for one that has no place here, which is noted. */
export function translateField(field: StoredField, context: FieldContext): FieldDefinition | undefined {
  const translate = kinds[field.type];
  if (!translate) {
    context.note('left_out', `has the unknown type ${field.type}`);
    return undefined;
  }
  const { name } = context;
  const definition = translate(field, context);
  const isRequired = field.required === true && !['number', 'bool', 'autodate', 'json'].includes(field.type);
  if (isRequired && context.lacking > 0)
    context.note('changed', `is not required any more: ${context.lacking} records have no value`);
  if (isPositive(field.minSelect) && field.minSelect > 1)
    context.note('changed', `asks for at least ${field.minSelect} values in PocketBase; here for none or one`);
  const required = isRequired && context.lacking === 0;
  const needsDefault = Object.hasOwn(stored, definition.type) && !required && definition.options?.default === undefined;
  return {
    name,
    ...definition,
    ...(needsDefault && { options: { ...definition.options, default: stored[definition.type] } }),
    ...(required && { required }),
    // PocketBase drops hidden fields from bodies, too. Nobody writes an automatic date.
    ...(field.hidden && { view_rule: '', ...(definition.type !== 'autodate' && { write_rule: '' }) }),
  };
}

type Translated = Omit<FieldDefinition, 'name'>;

const kinds: Readonly<Record<string, (field: StoredField, context: FieldContext) => Translated>> = {
  text(field) {
    const options: Options = {};
    if (isPositive(field.min)) options.min = field.min;
    if (isPositive(field.max)) options.max = field.max;
    if (field.pattern) options.pattern = field.pattern;
    if (field.autogeneratePattern) options.default = `@random(${field.autogeneratePattern})`;
    return { type: 'text', options };
  },
  editor: () => ({ type: 'editor' }),
  email: (field, context) => withDomains('email', field, context),
  url: (field, context) => withDomains('url', field, context),
  number(field, { note }) {
    const options: Options = {};
    // PocketBase lets 0 through whatever the bounds.
    if (typeof field.min === 'number') options.min = Math.min(field.min, 0);
    if (typeof field.max === 'number') options.max = Math.max(field.max, 0);
    if (options.min !== (field.min ?? undefined) || options.max !== (field.max ?? undefined))
      note('changed', 'its bounds admit 0, as they do in PocketBase');
    if (field.onlyInt) options.integer = true;
    if (field.required) note('changed', 'must not be 0: the create and update rules say so');
    return { type: 'number', options };
  },
  bool(field, { note }) {
    if (field.required) note('changed', 'must be true: the create and update rules say so');
    return { type: 'bool' };
  },
  date(field, { note }) {
    if (field.min || field.max) note('changed', 'its bounds are not taken');
    return { type: 'date' };
  },
  autodate: ({ onCreate = false, onUpdate = false }) => ({ type: 'autodate', onCreate, onUpdate }),
  json: () => ({ type: 'json' }),
  geoPoint: () => ({ type: 'geoPoint' }),
  select: (field) => ({ type: 'select', options: { values: [...new Set(field.values ?? [])], ...severalOf(field) } }),
  file(field, { note }) {
    const thumbs = (field.thumbs ?? []).filter((size) => /^(?!0+x0+[tbf]?$)\d{1,4}x\d{1,4}[tbf]?$/.test(size));
    if (thumbs.length < (field.thumbs ?? []).length) note('changed', 'some sizes of previews are not taken');
    if (field.protected)
      note('changed', 'is protected: a download needs a token here, also for guests whom the view rule admits');
    return {
      type: 'file',
      options: {
        maxSize: isPositive(field.maxSize) ? field.maxSize : defaultFileBytes,
        ...((field.mimeTypes ?? []).length > 0 && { mimeTypes: field.mimeTypes }),
        ...(thumbs.length > 0 && { thumbs: thumbs.slice(0, 20) }),
        ...severalOf(field),
        ...(field.protected ? { protected: true } : { public: true }),
      },
    };
  },
  relation(field, { targetOf, note }) {
    const target = targetOf(field.collectionId ?? '');
    if (target === undefined) {
      note('changed', 'its target is not taken, so it holds the ids as they are');
      return severalOf(field).multiple ? { type: 'json' } : { type: 'text' };
    }
    const several = severalOf(field);
    const ofRequired = several.multiple ? 'restrictLast' : 'restrict';
    const cascade = field.cascadeDelete ? 'cascade' : field.required ? ofRequired : 'setNull';
    return { type: 'relation', collection: target, options: { cascade, ...several } };
  },
  password: () => ({ type: 'password' }),
};

/** Whether a field holds a list, and how many values. */
export const severalOf = ({ maxSelect }: StoredField): { readonly multiple?: true; readonly max?: number } =>
  isPositive(maxSelect) && maxSelect > 1 ? { multiple: true, max: maxSelect } : {};

function withDomains(type: 'email' | 'url', field: StoredField, { note }: FieldContext): Translated {
  if ((field.onlyDomains ?? []).length + (field.exceptDomains ?? []).length > 0)
    note('changed', 'the list of domains is not taken');
  return { type };
}
