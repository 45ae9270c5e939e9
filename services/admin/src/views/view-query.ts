import { AppError, validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import { allowedFunctions, allowedSyntax, allowedTimeFunctions, allowedTypes } from './allowed-functions.ts';
import { type ParsedSelect, withColumnNames } from './own-names.ts';
import { parseSql } from './sql-parser.ts';

/** A table that a query names. */
interface TableMention {
  readonly name: string;
  readonly hasAlias: boolean;
  /** Where the name begins, in UTF-8 bytes. */
  readonly location: number;
}

/** A view's query as PostgreSQL's parser reads it. */
export interface ViewQuery {
  /** The SELECT without any text after it, with column names in place of the names that records show. */
  readonly select: string;
  readonly mentions: readonly TableMention[];
}

/** Returns the 422 for a view's query (views §5.1). */
export const refusedQuery = (message: string) => validationFailed({ view_query: message });

/** Longest query, in characters. */
const maxLength = 20_000;

/**
 * Reads a view's query. Throws 422 for a text that is not one SELECT, with the parser's message, and for anything that
 * does more than read the given collections. `inspectView` checks in the database what the names resolve to.
 */
export async function readViewQuery(text: string, collections: readonly Collection[]): Promise<ViewQuery> {
  if (text.length > maxLength) throw refusedQuery(`must have at most ${maxLength} characters`);
  if (text.includes('\0')) throw refusedQuery('must not contain NUL');
  const { select, start, tree } = await parseSelect(text);
  const found: Findings = { mentions: [], ctes: new Set() };
  inspect(tree, found);
  const tables = found.mentions.filter(({ name }) => !found.ctes.has(name));
  const collectionNames = collections.map(({ name }) => name);
  for (const { name } of tables) {
    if (collectionNames.includes(name)) continue;
    const meant = collectionNames.find((other) => other.toLowerCase() === name.toLowerCase());
    throw refusedQuery(`there is no collection "${name}"${meant ? `; write "${meant}" in double quotes` : ''}`);
  }
  return { select: withColumnNames({ select, start, tree }, collections, found.ctes), mentions: tables };
}

/**
 * Returns the query with a new name for a collection. An alias keeps references to the old name valid. Throws 422 when
 * a CTE has the old name.
 */
export async function renameInQuery(text: string, from: string, to: string): Promise<string> {
  const { tree } = await parseSelect(text);
  const found: Findings = { mentions: [], ctes: new Set() };
  inspect(tree, found);
  if (found.ctes.has(from)) throw refusedQuery(`"${from}" is also a CTE's name`);
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  let end = 0;
  for (const { name, hasAlias, location } of found.mentions.sort((a, b) => a.location - b.location)) {
    if (name !== from) continue;
    const isQuoted = bytes[location] === '"'.charCodeAt(0);
    parts.push(bytes.subarray(end, location), Buffer.from(`"${to}"${hasAlias ? '' : ` as "${from}"`}`));
    end = location + Buffer.byteLength(from) + (isQuoted ? 2 : 0);
  }
  return Buffer.concat([...parts, bytes.subarray(end)]).toString();
}

/** Returns the tables that a query names; none when it cannot be parsed. Does not validate the rest. */
export async function findMentions(text: string): Promise<readonly string[]> {
  const found: Findings = { mentions: [], ctes: new Set() };
  try {
    inspect((await parseSelect(text)).tree, found);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return found.mentions.map(({ name }) => name);
}

async function parseSelect(text: string): Promise<ParsedSelect> {
  const { stmts = [] } = await parseSql(text).catch((error: unknown) => {
    throw refusedQuery(error instanceof Error ? error.message : 'cannot be parsed');
  });
  const [statement] = stmts;
  if (stmts.length !== 1 || !statement?.stmt || !('SelectStmt' in statement.stmt))
    throw refusedQuery('must be one SELECT');
  const { stmt, stmt_location: start = 0, stmt_len: length } = statement;
  const bytes = Buffer.from(text);
  return { select: bytes.subarray(start, length ? start + length : undefined).toString(), start, tree: stmt };
}

/** The tables and CTEs that a statement names. */
export interface Findings {
  readonly mentions: TableMention[];
  readonly ctes: Set<string>;
}

/** What a statement may contain. */
interface Allowed {
  readonly syntax: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
}

const allowedInViews: Allowed = { syntax: allowedSyntax, functions: allowedFunctions };

/**
 * Walks the parser's tree. Only listed node types are allowed, so later versions' types are refused. Throws a view's
 * 422.
 */
export function inspect(node: unknown, found: Findings, allowed: Allowed = allowedInViews): void {
  if (Array.isArray(node)) {
    for (const item of node) inspect(item, found, allowed);
    return;
  }
  if (!isObject(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (/^[A-Z]/.test(key) && !allowed.syntax.has(key)) throw refusedQuery(`must not contain ${sqlNameOf(key)}`);
    if (key === 'intoClause') throw refusedQuery('must not write a table');
    if (isObject(value)) {
      if (key === 'FuncCall') checkFunction(value, allowed.functions);
      if (key === 'TypeName' || key === 'typeName') checkType(value);
      if (key === 'SQLValueFunction' && !allowedTimeFunctions.has(String(value.op)))
        throw refusedQuery('must not read the user, the database or the schema');
      if (key === 'RangeVar') found.mentions.push(mentionOf(value));
      if (key === 'CommonTableExpr') found.ctes.add(String(value.ctename));
    }
    inspect(value, found, allowed);
  }
}

function checkFunction({ funcname }: Tree, functions: ReadonlySet<string>): void {
  const { schema, name } = qualified(funcname);
  if ((schema !== undefined && schema !== 'pg_catalog') || !functions.has(name))
    throw refusedQuery(`must not call the function ${name}`);
}

function checkType({ names, pct_type: isOfColumn }: Tree): void {
  const { schema, name } = qualified(names);
  if ((schema !== undefined && schema !== 'pg_catalog') || isOfColumn || !allowedTypes.has(name))
    throw refusedQuery(`must not use the type ${name}`);
}

function mentionOf({ relname, schemaname, catalogname, inh, alias, location }: Tree): TableMention {
  if (schemaname !== undefined || catalogname !== undefined)
    throw refusedQuery(`must name collections without a schema, not ${schemaname}.${relname}`);
  if (inh !== true) throw refusedQuery('must not contain ONLY');
  return { name: String(relname), hasAlias: alias !== undefined, location: Number(location ?? 0) };
}

type Tree = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Splits a name into schema and name. */
function qualified(names: unknown): { schema: string | undefined; name: string } {
  const parts = Array.isArray(names) ? names.map((part) => String(part?.String?.sval)) : [];
  return { schema: parts.length > 1 ? parts.slice(0, -1).join('.') : undefined, name: parts.at(-1) ?? '' };
}

/** Returns the SQL for one of the parser's node types. */
const sqlNameOf = (key: string): string =>
  ({
    LockingClause: 'FOR UPDATE or FOR SHARE',
    InsertStmt: 'INSERT',
    UpdateStmt: 'UPDATE',
    DeleteStmt: 'DELETE',
    MergeStmt: 'MERGE',
    ParamRef: 'parameters',
    RangeTableSample: 'TABLESAMPLE',
    RangeTableFunc: 'XMLTABLE',
    XmlExpr: 'XML',
    XmlSerialize: 'XML',
  })[key] ?? key;
