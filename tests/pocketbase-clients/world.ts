/** A field of the world, in PocketBase's form. */
interface WorldField {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly values?: readonly string[];
  readonly maxSelect?: number;
  readonly hidden?: boolean;
  readonly protected?: boolean;
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
  /** A relation's target. */
  readonly to?: string;
}

/** A collection of the world, with the rules of both sides. */
export interface WorldCollection {
  readonly name: string;
  readonly fields: readonly WorldField[];
  /** In PocketBase: null admits superusers. */
  readonly rules: Readonly<Record<'list' | 'view' | 'create' | 'update' | 'delete', string | null>>;
}

const own = 'author = @request.auth.id';
const times: readonly WorldField[] = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
];

/** Collections next to `users`, whose accounts see only themselves. */
export const world: readonly WorldCollection[] = [
  {
    name: 'tags',
    fields: [{ name: 'name', type: 'text' }, ...times],
    rules: { list: '', view: '', create: '', update: null, delete: null },
  },
  {
    name: 'posts',
    fields: [
      { name: 'title', type: 'text', required: true, max: 20 },
      { name: 'n', type: 'number', min: -5, max: 100 },
      { name: 'b', type: 'bool' },
      { name: 'd', type: 'date' },
      { name: 'j', type: 'json' },
      { name: 's', type: 'select', values: ['a', 'b'], maxSelect: 1 },
      { name: 'ss', type: 'select', values: ['a', 'b', 'c'], maxSelect: 3 },
      { name: 'doc', type: 'file', maxSelect: 1 },
      { name: 'docs', type: 'file', maxSelect: 5 },
      { name: 'g', type: 'geoPoint' },
      { name: 'u', type: 'url' },
      { name: 'e', type: 'email' },
      { name: 'secret', type: 'text', hidden: true },
      { name: 'author', type: 'relation', to: 'users', maxSelect: 1 },
      { name: 'tags', type: 'relation', to: 'tags', maxSelect: 5 },
      ...times,
    ],
    rules: { list: '', view: '', create: '@request.auth.id != ""', update: own, delete: own },
  },
  {
    name: 'notes',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'paper', type: 'file', maxSelect: 1, protected: true },
      { name: 'author', type: 'relation', to: 'users', maxSelect: 1 },
      ...times,
    ],
    rules: { list: own, view: own, create: own, update: own, delete: own },
  },
  {
    name: 'closed',
    fields: [{ name: 'name', type: 'text' }, ...times],
    rules: { list: null, view: null, create: null, update: null, delete: null },
  },
];
