import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import {
  type Collection,
  type ColumnValues,
  compileRecordReader,
  type Field,
  fieldTypeOf,
  isOperatorObject,
  type ListOperand,
  perCollection,
  type Rule,
  ValueOperation,
} from '@recordbus/schema';
import type { Upload } from '../files/upload-parts.ts';
import { prepareWrite } from '../record/prepared.ts';
import { needsRuleCheck, passesRules, type RuleContext } from '../rules/rule-context.ts';
import { composeResolve } from './operators-sql.ts';

type Body = Readonly<Record<string, unknown>>;

/** Refused results, each as JSON text: the field's name and the message. */
export type RefusedResults = readonly string[];

/** Throws 422 naming the fields whose results are refused. */
export function refuseResults(refused: RefusedResults): void {
  if (refused.length > 0)
    throw validationFailed(Object.fromEntries(refused.map((text): [string, string] => JSON.parse(text))));
}

/** A body's fields that have operators instead of values (records §6.3). */
export const fieldsWithOperators = ({ fields }: Collection, body: Body): readonly Field[] =>
  fields.filter(
    (field) =>
      Object.hasOwn(body, field.name) && isOperatorObject(body[field.name]) && fieldTypeOf(field).operators?.(field),
  );

/**
 * Whether the update rule, or a field's write rule, reads the body. It sees the operators' results, not the operators,
 * so these are computed before it is checked.
 */
export const rulesReadBody = (collection: Collection, call: RuleContext): boolean =>
  (needsRuleCheck(collection, 'update', call) && readsBody(collection.rules.update)) ||
  (!passesRules(call, collection, 'write') && collection.fields.some(({ writeRule }) => readsBody(writeRule)));

const readsBody = (rule: Rule | undefined): boolean => rule?.includes('@request.body') === true;

/** The operands in written values, by field, for the statement. File fields' operands include the uploaded files. */
export function operandsOf(written: ColumnValues, upload: Upload | undefined): ReadonlyMap<string, unknown> {
  const operations = [...written].filter(
    (entry): entry is [string, ValueOperation] => entry[1] instanceof ValueOperation,
  );
  return new Map(
    operations.map(([name, { operand }]) => {
      const added = upload?.files.get(name);
      return [name, textOf(added ? { ...(operand as ListOperand), append: added } : operand)];
    }),
  );
}

/** An operand for the driver: lists are JSON text. */
const textOf = (operand: unknown): unknown => (typeof operand === 'number' ? operand : JSON.stringify(operand));

/** The written values without operations. */
export const withoutOperations = (written: ColumnValues): ColumnValues =>
  new Map([...written].filter(([, value]) => !(value instanceof ValueOperation)));

const readerOf = perCollection(compileRecordReader);
const resolveOf = perCollection((collection) => prepareWrite('resolve', composeResolve(collection)));

interface Resolved {
  /** The body with results instead of operators. */
  readonly body: Body;
  readonly refused: RefusedResults;
}

/** Computes what operators result in on a locked record. Throws 422 naming every invalid operator. */
export async function resolveOperators(
  query: Query,
  collection: Collection,
  { id, body, upload }: { readonly id: string; readonly body: Body; readonly upload?: Upload | undefined },
): Promise<Resolved> {
  const operators = fieldsWithOperators(collection, body).map(({ name }): [string, unknown] => [name, body[name]]);
  const read = await readerOf(collection).readChange(Object.fromEntries(operators), { takesOperators: true });
  const { valuesFrom, ...statement } = resolveOf(collection);
  const [row] = await query<{ values: string; refused: RefusedResults }>({
    ...statement,
    values: valuesFrom({ id, operands: operandsOf(read, upload) }),
  });
  if (!row) throw new Error('a locked record is missing');
  const values: Body = JSON.parse(row.values);
  const results = operators.map(([name]) => [name, values[name]]);
  return { body: { ...body, ...Object.fromEntries(results) }, refused: row.refused };
}

/** Replaces a body's operators by their results for a record without values. Throws 422 naming every invalid one. */
export async function applyToNothing(collection: Collection, body: Body): Promise<Body> {
  const fields = fieldsWithOperators(collection, body);
  if (fields.length === 0) return body;
  const operators = fields.map(({ name }) => [name, body[name]]);
  await readerOf(collection).readChange(Object.fromEntries(operators), { takesOperators: true });
  const results = fields.map((field) => {
    const written = body[field.name];
    return [
      field.name,
      isOperatorObject(written) ? fieldTypeOf(field).operators?.(field)?.ofNothing(written) : written,
    ];
  });
  return { ...body, ...Object.fromEntries(results) };
}
