import type { Query } from '@recordbus/database';
import { notFound, unauthenticated } from '@recordbus/errors';
import { authOf, createNamedParameters } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import {
  type Collection,
  type Field,
  type FileOptions,
  fileOptionsOf,
  quoteIdentifier,
  quoteLiteral,
  type Rule,
  tableOf,
} from '@recordbus/schema';
import { type FileKey, fileKey } from '@recordbus/storage';
import { perCallerKind } from '../record/per-caller-kind.ts';
import { prepare } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { authorize, ruleRefusal } from '../rules/authorize.ts';
import { compileCondition } from '../rules/compile-rule.ts';
import { schemaFor } from '../rules/key-collections.ts';
import { passesRules, type RuleContext } from '../rules/rule-context.ts';
import { joinUploaded } from '../shape/file-details.ts';
import { fileFieldsOf } from './file-changes.ts';

/** A file's name within a collection. */
export interface FileName {
  readonly recordId: string;
  readonly filename: string;
}

/** A record's file. */
export interface FoundFile {
  readonly key: FileKey;
  readonly field: Field;
  readonly options: FileOptions;
  /** The sender's name; null when it is not known. */
  readonly original: string | null;
  /** Whether the caller passes the collection's rules. Then the file needs no token. */
  readonly isPassed: boolean;
}

/** A record's file, and whether the rules admit the caller. */
export interface LocatedFile extends FoundFile {
  readonly isReadable: boolean;
}

/** Returns a download's rule context. */
export const ruleContextOf = (
  principal: Principal,
  schema: RuleContext['schema'],
  request: Pick<RuleContext['request'], 'query' | 'header'>,
): RuleContext => ({
  principal,
  schema: schemaFor(principal, schema),
  request: { method: 'GET', auth: authOf(principal), body: undefined, ...request },
});

/** Whether some file may be public, so that a closed view rule does not refuse every download (files §7.6). */
export const hasPublicFiles = (collection: Collection): boolean =>
  fileFieldsOf(collection).some((field) => fileOptionsOf(field).public);

/**
 * Finds the field that has a file, and checks the rules. Throws 404 when the record does not have the file, or 403 when
 * only admins may view the collection and the file is not public.
 */
export async function locateFile(
  query: Query,
  collection: Collection,
  { recordId, filename }: FileName,
  ruleContext: RuleContext,
): Promise<LocatedFile> {
  const key = fileKey(collection.id, recordId, filename);
  const fields = fileFieldsOf(collection);
  if (!key || fields.length === 0 || collection.type === 'view' || !isRecordId(recordId)) {
    authorize(collection.rules.view, ruleContext.principal);
    throw notFound('file');
  }
  const { valuesFrom, ...statement } = compiled(collection, ruleContext);
  const [row] = await query<{ field: string | null; original: string | null; isReadable: boolean }>({
    ...statement,
    values: valuesFrom({ recordId, filename }, ruleContext.request),
  });
  const field = fields.find(({ name }) => name === row?.field);
  // With a closed rule, only a public file shows that it exists.
  if (!field || !fileOptionsOf(field).public) authorize(collection.rules.view, ruleContext.principal);
  if (!row || !field) throw notFound('file');
  return {
    key,
    field,
    options: fileOptionsOf(field),
    original: row.original,
    isPassed: passesRules(ruleContext, collection, 'read'),
    isReadable: row.isReadable,
  };
}

/** Throws 401 or 403 when an option or a rule refuses the caller. */
export function admit({ options, isReadable }: LocatedFile, principal: Principal): void {
  if (options.requireAuth && principal.type === 'guest') throw unauthenticated();
  if (!isAdmin(principal) && !isReadable) throw ruleRefusal(principal);
}

/** Composes the search for the field that has a file, with what the collection's and the field's view rules decide. */
const compiled = perCallerKind((collection, context) => {
  const parameters = createNamedParameters<FileName>();
  const filename = parameters.named('filename', 'text');
  const place = { row: 't', parameters };
  const verdictOf = (rule: Rule) =>
    rule === null ? 'true' : rule === '' ? 'false' : compileCondition(rule, collection, context, place);
  const fields = fileFieldsOf(collection).map((field) => {
    const column = `t.${quoteIdentifier(field.name)}`;
    const rules = [fileOptionsOf(field).viewRule, field.viewRule ?? null].filter((rule) => rule !== null);
    return {
      name: quoteLiteral(field.name),
      has: `${column} ${field.options.multiple ? '?' : '='} ${filename}`,
      isPublic: fileOptionsOf(field).public,
      isOpen: rules.length === 0 ? 'true' : rules.map((rule) => `(${verdictOf(rule)})`).join(' and '),
    };
  });
  const ruled = `(${verdictOf(collection.rules.view)}) and (case f.name ${fields.map(({ name, isOpen }) => `when ${name} then (${isOpen})`).join(' ')} end)`;
  const publicNames = fields.filter(({ isPublic }) => isPublic).map(({ name }) => name);
  const isReadable = publicNames.length > 0 ? `f.name in (${publicNames.join(', ')}) or (${ruled})` : ruled;
  const text = `select f.name as field, u.original, (${isReadable}) is true as "isReadable"
from ${tableOf(collection)} t
cross join lateral (select case ${fields.map(({ has, name }) => `when ${has} then ${name}`).join(' ')} end as name) f
${joinUploaded(collection, 't', filename, 'u')}
where t.id = ${parameters.named('recordId', 'text')}`;
  return { ...prepare('file', text), valuesFrom: parameters.valuesFrom };
});
