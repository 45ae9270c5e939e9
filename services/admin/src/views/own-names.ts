import type { Collection, TimeColumn } from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';

/** A node in the parser's tree. */
type Tree = Readonly<Record<string, unknown>>;

/** A SELECT as PostgreSQL's parser reads it. */
export interface ParsedSelect {
  readonly select: string;
  /** Offset of `select` in the text that the tree's locations refer to, in UTF-8 bytes. */
  readonly start: number;
  readonly tree: unknown;
}

/** A query's sources and its enclosing scope. */
interface Scope {
  /** Collections by their names in the query; undefined for any other source, such as a CTE. */
  readonly sources: ReadonlyMap<string, Collection | undefined>;
  /** Names of the output columns, which take precedence in ORDER BY and GROUP BY. */
  readonly outputNames: ReadonlySet<string>;
  readonly outer: Scope | undefined;
}

/** A text range, in bytes, and its replacement. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Reading {
  readonly bytes: Buffer;
  readonly start: number;
  readonly collections: readonly Collection[];
  readonly ctes: ReadonlySet<string>;
  readonly edits: Edit[];
}

/** Record members whose columns have other names. */
const columnOf: ReadonlyMap<string, TimeColumn | 'is_anonymous'> = new Map([
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['anonymous', 'is_anonymous'],
]);

/**
 * Returns the query with column names for `created`, `updated` and, in accounts, `anonymous`. Authors write the names
 * that records show. Names that a sub-query may define stay as they are.
 */
export function withColumnNames(
  { select, start, tree }: ParsedSelect,
  collections: readonly Collection[],
  ctes: ReadonlySet<string>,
): string {
  const reading: Reading = { bytes: Buffer.from(select), start, collections, ctes, edits: [] };
  walk(tree, undefined, reading);
  const { bytes, edits } = reading;
  const parts: string[] = [];
  let end = 0;
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    parts.push(bytes.subarray(end, edit.start).toString(), edit.text);
    end = edit.end;
  }
  return [...parts, bytes.subarray(end).toString()].join('');
}

function walk(node: unknown, scope: Scope | undefined, reading: Reading): void {
  if (Array.isArray(node)) for (const item of node) walk(item, scope, reading);
  if (!isObject(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'SelectStmt' && isObject(value)) walkSelect(value, scope, reading);
    else if (key === 'ColumnRef' && isObject(value))
      rename(value, { scope, mayBeOutputName: false, isUnnamedOutput: false }, reading);
    else walk(value, scope, reading);
  }
}

function walkSelect(select: Tree, outer: Scope | undefined, reading: Reading): void {
  const { larg, rarg, fromClause, targetList, sortClause, groupClause, ...rest } = select;
  // ORDER BY after UNION names output columns.
  for (const arm of [larg, rarg]) if (isObject(arm)) walkSelect(arm, outer, reading);
  const sources = new Map<string, Collection | undefined>();
  addSources(fromClause, sources, reading);
  const targets = listOf(targetList).map((target) => treeAt(target, 'ResTarget') ?? {});
  const outputNames = new Set(
    targets.map(({ name, val }) => (name === undefined ? namesOf(val).at(-1) : String(name)) ?? ''),
  );
  const scope: Scope = { sources, outputNames, outer };
  for (const target of targets) {
    const column = treeAt(target.val, 'ColumnRef');
    if (column) rename(column, { scope, mayBeOutputName: false, isUnnamedOutput: target.name === undefined }, reading);
    else walk(target.val, scope, reading);
  }
  for (const part of [...listOf(sortClause), ...listOf(groupClause)]) {
    const node = treeAt(part, 'SortBy')?.node ?? part;
    const column = treeAt(node, 'ColumnRef');
    if (column) rename(column, { scope, mayBeOutputName: true, isUnnamedOutput: false }, reading);
    else walk(node, scope, reading);
  }
  walk([fromClause, rest], scope, reading);
}

/** Adds a FROM clause's sources. A source that is not a plain collection may have columns with any name. */
function addSources(from: unknown, sources: Map<string, Collection | undefined>, reading: Reading): void {
  for (const item of listOf(from)) {
    const join = treeAt(item, 'JoinExpr');
    const table = treeAt(item, 'RangeVar');
    if (join) addSources([join.larg, join.rarg], sources, reading);
    const [kind = {}] = isObject(item) ? Object.values(item).filter(isObject) : [];
    const alias = isObject(kind.alias) ? kind.alias : undefined;
    const name = String(alias?.aliasname ?? kind.relname ?? '');
    const isPlain = table !== undefined && alias?.colnames === undefined && !reading.ctes.has(String(table.relname));
    if (!join || alias)
      sources.set(name, isPlain ? reading.collections.find((one) => one.name === table.relname) : undefined);
  }
}

interface ReferenceContext {
  readonly scope: Scope | undefined;
  /** Whether the name may refer to an output column. */
  readonly mayBeOutputName: boolean;
  /** Whether it is an output column without an alias. */
  readonly isUnnamedOutput: boolean;
}

function rename(
  ref: Tree,
  { scope, mayBeOutputName, isUnnamedOutput }: ReferenceContext,
  { bytes, start: offset, edits }: Reading,
): void {
  const names = namesOf({ ColumnRef: ref });
  const name = names.at(-1) ?? '';
  const column = columnOf.get(name);
  if (!column || names.length > 2) return;
  if (mayBeOutputName && names.length === 1 && scope?.outputNames.has(name)) return;
  const qualifier = names.length === 2 ? names[0] : undefined;
  if (!isOfRecord(name, qualifier, scope)) return;
  const start = Number(ref.location ?? 0) - offset;
  const [written = '', before = ''] = reference.exec(bytes.subarray(start).toString()) ?? [];
  if (written === '' || (before !== '') !== (qualifier !== undefined)) return;
  const text = `${before}${column}${isUnnamedOutput ? ` as ${name}` : ''}`;
  edits.push({ start, end: start + Buffer.byteLength(written), text });
}

const reference = /^((?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)\s*\.\s*)?(?:"[a-z]+"|[A-Za-z]+)/u;

/** Whether the name is a record member, in the qualified collection or in the nearest scope that has it. */
function isOfRecord(name: string, qualifier: string | undefined, scope: Scope | undefined): boolean {
  if (!scope) return false;
  const { sources, outer } = scope;
  if (qualifier !== undefined && sources.has(qualifier)) return hasMember(sources.get(qualifier), name);
  if (qualifier === undefined) {
    const all = [...sources.values()];
    if (all.includes(undefined)) return false;
    if (all.some((collection) => hasMember(collection, name))) return true;
  }
  return isOfRecord(name, qualifier, outer);
}

function hasMember(collection: Collection | undefined, name: string): boolean {
  if (name === 'anonymous') return collection?.type === 'auth';
  return collection !== undefined && !collection.lacking?.some((column) => column === columnOf.get(name));
}

/** Returns the names in a column reference; none for other nodes and for `*`. */
function namesOf(node: unknown): readonly string[] {
  const fields = listOf(treeAt(node, 'ColumnRef')?.fields);
  const names = fields.map((field) => treeAt(field, 'String')?.sval);
  return names.every((name) => typeof name === 'string') ? names : [];
}

const treeAt = (node: unknown, key: string): Tree | undefined =>
  isObject(node) && isObject(node[key]) ? node[key] : undefined;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
