import type { Query } from '@recordbus/database';
import { authOf, createParameters } from '@recordbus/query';
import {
  type Collection,
  type Field,
  type FileOptions,
  fileOptionsOf,
  quoteIdentifier,
  quoteLiteral,
  tableOf,
} from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { notFound, unauthenticated } from '@recordbus/shared/errors';
import { type FileKey, fileKey } from '@recordbus/storage';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileCondition, compileRule } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import { fileFieldsOf } from './file-changes.ts';

/** Which file, in a collection that is known. */
export interface FileName {
  readonly recordId: string;
  readonly filename: string;
}

/** A file that the caller may have. */
export interface FoundFile {
  readonly key: FileKey;
  readonly field: Field;
  readonly options: FileOptions;
}

/** Of whom and of what the rules of a file are asked. */
export const askingAs = (
  principal: Principal,
  schema: Asking['schema'],
  request: Pick<Asking['request'], 'query' | 'header'>,
): Asking => ({
  principal,
  schema,
  request: { method: 'GET', auth: authOf(principal), body: undefined, ...request },
});

/** Finds the field that names a file. Throws 404 when the record has none such, 403 or 401 where a rule or an option refuses. */
export async function findFile(
  query: Query,
  collection: Collection,
  { recordId, filename }: FileName,
  asking: Asking,
): Promise<FoundFile> {
  const key = fileKey(collection.id, recordId, filename);
  const fields = fileFieldsOf(collection);
  if (!key || fields.length === 0 || collection.type === 'view' || !isRecordId(recordId)) throw notFound('file');
  const { parameters, ...statement } = compiled(collection, asking.schema);
  const [row] = await query<{ field: string | null; isViewable: boolean; isOpen: boolean }>({
    ...statement,
    values: [recordId, filename, ...parameters.values(asking.request)],
  });
  const field = fields.find(({ name }) => name === row?.field);
  if (!row || !field) throw notFound('file');
  const options = fileOptionsOf(field);
  const { principal } = asking;
  if (options.requireAuth && principal.type === 'guest') throw unauthenticated();
  if (principal.type !== 'admin' && !(row.isViewable && row.isOpen)) throw ruleRefusal(principal);
  return { key, field, options };
}

/** Which field of a record has a file, and whether the collection's view rule and the field's hold for the record. */
const compiled = perCollection((collection, schema: Asking['schema']) => {
  const parameters = createParameters(3);
  const place = { row: 't', parameters };
  const cases = fileFieldsOf(collection).map((field) => {
    const column = `t.${quoteIdentifier(field.name)}`;
    const { viewRule } = fileOptionsOf(field);
    return {
      has: field.options.multiple ? `${column} ? $2::text` : `${column} = $2::text`,
      name: quoteLiteral(field.name),
      isOpen:
        viewRule === null ? 'true' : viewRule === '' ? 'false' : compileCondition(viewRule, collection, schema, place),
    };
  });
  const rule = collection.rules.view;
  const isViewable = rule === null ? 'true' : rule === '' ? 'false' : compileRule(collection, 'view', schema, place);
  const text = `select case ${cases.map(({ has, name }) => `when ${has} then ${name}`).join(' ')} end as field,
  (${isViewable}) is true as "isViewable",
  (case ${cases.map(({ has, isOpen }) => `when ${has} then (${isOpen})`).join(' ')} end) is true as "isOpen"
from ${tableOf(collection)} t where t.id = $1`;
  return { ...prepare('file', text), parameters };
});
