import { newId, type Query } from '@recordbus/database';
import { answerOf, insertEvents, newValue, nowSec, originValues, selectRecord, withHistory } from '@recordbus/journal';
import { createParameters } from '@recordbus/query';
import {
  type Collection,
  compileRecordReader,
  explainRefusal,
  fieldTypeOf,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { hasAccounts, readNewAccount } from '../accounts/new-account.ts';
import { refuseForeignFiles } from '../files/file-changes.ts';
import type { Upload } from '../files/upload-parts.ts';
import { openAnswer } from '../read/open-answer.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import type { WriteRules } from './write-rules.ts';
import type { WrittenRecord } from './written-record.ts';

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(collection),
  statement: prepare('create', composeCreate(collection)),
}));

const ruled = perCollection((collection, schema: Asking['schema']) => {
  const parameters = createParameters(6 + collection.fields.length + (hasAccounts(collection) ? 1 : 0));
  const rule = compileRule(collection, 'create', schema, { row: 'draft', parameters });
  return { ...prepare('create', composeCreate(collection, rule)), parameters };
});

/**
 * Makes a record and its event in one statement. Throws 422 naming every field that is refused, 403 or 401 when
 * the create rule does not hold for the record as it would be stored; then nothing is written. Where hooks stand before
 * creates, the query has to be of a transaction.
 */
export async function createRecord(
  query: Query,
  collection: Collection,
  given: Readonly<Record<string, unknown>>,
  context: RequestContext,
  asking: Asking,
  { passwords, sealing, hooks }: WriteRules,
  upload?: Upload,
): Promise<WrittenRecord> {
  const before = hooks.find(collection, 'create');
  const pending = { query, collection, id: undefined, body: given, previous: undefined, context };
  const body = before ? await before(pending) : given;
  const { reader, statement: open } = compiled(collection);
  const isRuled = isAsked(collection, 'create', asking.principal);
  const { parameters, ...statement } = isRuled ? ruled(collection, asking.schema) : { ...open, parameters: undefined };
  const account = hasAccounts(collection) && (await readNewAccount(passwords, body, asking.principal, reader));
  const written = await sealing.storeSecrets(collection, reader.readNew(account ? account.body : body));
  refuseForeignFiles(collection, written, upload);
  const values = collection.fields.map(({ name }) => written.get(name) ?? null);
  const [row] = await query<WrittenRecord>({
    ...statement,
    values: [
      ...originValues(context),
      upload?.recordId ?? newId(),
      ...values,
      ...(account ? [account.passwordHash] : []),
      ...(parameters?.values(asking.request) ?? []),
    ],
  }).catch(explainRefusal(collection));
  if (!row && isRuled) throw ruleRefusal(asking.principal);
  if (!row) throw new Error('the statement of a create gave no row');
  return { ...row, body: openAnswer(sealing, { collection, expansions: undefined }, row.body) };
}

/**
 * The text of a create; its values are the origin, the id, one for each field, and in an auth collection the hash of
 * the password. With a rule, a condition on
 * the row `draft`, it gives no row where that does not hold.
 */
function composeCreate(collection: Collection, rule?: string): string {
  const columns = columnsOf(collection).map((column) => `, ${column}`);
  const values = placeValues(collection).map((value) => `, ${value}`);
  return `with new as (
  insert into ${tableOf(collection)} (id, created_at, updated_at${columns.join('')})
  ${rule === undefined ? `values ($5::text, ${nowSec}, ${nowSec}${values.join('')})` : selectDraft(collection, rule)}
  returning *
), shown as materialized (
  ${selectRecord(collection, 'new')}
), event as (
  ${insertEvents({ collection, verb: 'create', source: 'shown' })}
)${withHistory({ collection, verb: 'create', source: 'new' })}
select '{"data":' || ${answerOf(collection, 's')} || '}' as body, s.updated_at as "updatedAtSec" from shown s`;
}

/** The row to be written, if the rule holds for it: it has the columns of a stored one. */
function selectDraft(collection: Collection, rule: string): string {
  const columns = columnsOf(collection);
  // A rule may ask of a user what only stored ones have been until now.
  const defaults = hasAccounts(collection) ? ', false as is_anonymous' : '';
  const values = placeValues(collection).map((value, index) => `, ${value} as ${columns[index]}`);
  return `select draft.id, draft.created_at, draft.updated_at${columns.map((column) => `, draft.${column}`).join('')}
  from (select $5::text as id, ${nowSec} as created_at, ${nowSec} as updated_at${values.join('')}${defaults}) draft
  where ${rule}`;
}

/** The columns that a create fills, beside those of every record. */
const columnsOf = (collection: Collection): string[] => [
  ...collection.fields.map(({ name }) => quoteIdentifier(name)),
  ...(hasAccounts(collection) ? ['password_hash'] : []),
];

const placeValues = (collection: Collection): string[] => [
  ...collection.fields.map((field, index) => newValue(field, `$${6 + index}::${fieldTypeOf(field).columnType(field)}`)),
  ...(hasAccounts(collection) ? [`$${6 + collection.fields.length}::text`] : []),
];
