import { AppError, validationFailed } from '@recordbus/shared/errors';
import { allowedFunctions, allowedMoments, allowedSyntax, allowedTypes } from './allowed-functions.ts';

/** A table that a query reads, as the query calls it. */
interface Mention {
  readonly name: string;
  readonly hasAlias: boolean;
  /** Where the name begins, in bytes of UTF-8. */
  readonly location: number;
}

/** The query of a view after PostgreSQL's own parser has read it. */
export interface ViewQuery {
  /** The one SELECT, without what stands behind it. */
  readonly select: string;
  readonly mentions: readonly Mention[];
}

/** 422 about the query of a view. */
export const refusedQuery = (message: string) => validationFailed({ view_query: message });

/** Nobody's query is longer, in characters. */
const maxLength = 20_000;

/**
 * Reads the query of a view. Throws 422 for what is not one SELECT, in the parser's words, and for whatever it could do
 * but read from the given collections. What the names in it stand for is looked at by `inspectView`, in the database.
 */
export async function readViewQuery(text: string, collectionNames: readonly string[]): Promise<ViewQuery> {
  if (text.length > maxLength) throw refusedQuery(`must have at most ${maxLength} characters`);
  if (text.includes('\0')) throw refusedQuery('must not contain NUL');
  const { select, tree } = await parseSelect(text);
  const found: Findings = { mentions: [], ctes: new Set() };
  inspect(tree, found);
  const tables = found.mentions.filter(({ name }) => !found.ctes.has(name));
  for (const { name } of tables) {
    if (collectionNames.includes(name)) continue;
    const meant = collectionNames.find((other) => other.toLowerCase() === name.toLowerCase());
    throw refusedQuery(`there is no collection "${name}"${meant ? `; write "${meant}" in double quotes` : ''}`);
  }
  return { select, mentions: tables };
}

/**
 * The query with another name for a collection; whatever refers to the table by its old name goes on to. Throws 422
 * when it has a CTE of that name.
 */
export async function renameInQuery(text: string, from: string, to: string): Promise<string> {
  const { tree } = await parseSelect(text);
  const found: Findings = { mentions: [], ctes: new Set() };
  inspect(tree, found);
  if (found.ctes.has(from)) throw refusedQuery(`"${from}" is the name of a CTE as well`);
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

/** The tables that a query names, whatever else may be wrong with it; none when it can't be parsed. */
export async function findMentions(text: string): Promise<readonly string[]> {
  const found: Findings = { mentions: [], ctes: new Set() };
  try {
    inspect((await parseSelect(text)).tree, found);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return found.mentions.map(({ name }) => name);
}

async function parseSelect(text: string): Promise<{ select: string; tree: unknown }> {
  // Loaded when there is something to parse: it takes 20 MB.
  const { parse } = await import('libpg-query');
  const { stmts = [] } = await parse(text).catch((error: unknown) => {
    throw refusedQuery(error instanceof Error ? error.message : 'can not be parsed');
  });
  const [statement] = stmts;
  if (stmts.length !== 1 || !statement?.stmt || !('SelectStmt' in statement.stmt))
    throw refusedQuery('must be one SELECT');
  const { stmt, stmt_location: start = 0, stmt_len: length } = statement;
  const bytes = Buffer.from(text);
  return { select: bytes.subarray(start, length ? start + length : undefined).toString(), tree: stmt };
}

interface Findings {
  readonly mentions: Mention[];
  readonly ctes: Set<string>;
}

/** Walks the parser's tree: everything in it must be allowed by name, so what a later version adds is refused. */
function inspect(node: unknown, found: Findings): void {
  if (Array.isArray(node)) {
    for (const item of node) inspect(item, found);
    return;
  }
  if (!isObject(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (/^[A-Z]/.test(key) && !allowedSyntax.has(key)) throw refusedQuery(`can't have ${nameOf(key)}`);
    if (key === 'intoClause') throw refusedQuery('must not write a table');
    if (isObject(value)) {
      if (key === 'FuncCall') checkFunction(value);
      if (key === 'TypeName' || key === 'typeName') checkType(value);
      if (key === 'SQLValueFunction' && !allowedMoments.has(String(value.op)))
        throw refusedQuery('must not ask who or where the database is');
      if (key === 'RangeVar') found.mentions.push(mentionOf(value));
      if (key === 'CommonTableExpr') found.ctes.add(String(value.ctename));
    }
    inspect(value, found);
  }
}

function checkFunction({ funcname }: Tree): void {
  const { schema, name } = qualified(funcname);
  if ((schema !== undefined && schema !== 'pg_catalog') || !allowedFunctions.has(name))
    throw refusedQuery(`must not call the function ${name}`);
}

function checkType({ names, pct_type: isOfColumn }: Tree): void {
  const { schema, name } = qualified(names);
  if ((schema !== undefined && schema !== 'pg_catalog') || isOfColumn || !allowedTypes.has(name))
    throw refusedQuery(`must not use the type ${name}`);
}

function mentionOf({ relname, schemaname, catalogname, inh, alias, location }: Tree): Mention {
  if (schemaname !== undefined || catalogname !== undefined)
    throw refusedQuery(`must name collections without a schema, not ${schemaname}.${relname}`);
  if (inh !== true) throw refusedQuery("can't have ONLY");
  return { name: String(relname), hasAlias: alias !== undefined, location: Number(location ?? 0) };
}

type Tree = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** The parts of a name that may say its schema. */
function qualified(names: unknown): { schema: string | undefined; name: string } {
  const parts = Array.isArray(names) ? names.map((part) => String(part?.String?.sval)) : [];
  return { schema: parts.length > 1 ? parts.slice(0, -1).join('.') : undefined, name: parts.at(-1) ?? '' };
}

/** What the parser's own word means to somebody who writes SQL. */
const nameOf = (key: string): string =>
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
