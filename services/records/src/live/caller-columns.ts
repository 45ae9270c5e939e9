import type { NamedParameters, Parameters, RequestValues } from '@recordbus/query';

/** Where a subscription's values come from. */
export interface SubscriptionValues {
  readonly request: RequestValues;
  /** The id of the one record that is followed. */
  readonly record: string | undefined;
}

/** A value that differs between subscriptions with the same plan. */
interface CallerColumn {
  readonly sqlType: string;
  read(values: SubscriptionValues): unknown;
}

/** The columns of the relation `caller`, which has a row for each subscription. */
export interface CallerColumns<Given extends object> {
  readonly count: number;
  /** How often the SQL so far reads one of the columns. */
  readonly reads: number;
  /** The columns' SQL types, in order. */
  readonly types: readonly string[];
  /** Parameters for a rule: request values are columns, fixed values belong to the statement. */
  readonly ofRule: NamedParameters<Given>;
  /** Parameters for a client's filter: fixed values are columns too. */
  readonly ofClient: Parameters;
  /** At which index the caller's account id is among the values; undefined if the SQL does not read it. */
  placeOfAccount(): number | undefined;
  /** Adds the followed record's id. Returns its SQL. */
  recordId(): string;
  /** One subscription's values, in column order. */
  valuesOf(values: SubscriptionValues): unknown[];
}

/** The relation's alias, and its column with the subscription's number. No value is named like it. */
export const callerAlias = 'caller';
export const callerNumber = `${callerAlias}."@c"`;

/** The compiler's key for the caller's account id. */
const accountKey = 'auth.id as text';

/** Creates a statement's columns with the given parameters. */
export function createCallerColumns<Given extends object>(statement: NamedParameters<Given>): CallerColumns<Given> {
  const columns: CallerColumn[] = [];
  const placed = new Map<string, string>();
  const places = new Map<string, number>();
  let reads = 0;
  const add = (sqlType: string, read: CallerColumn['read']): string => {
    columns.push({ sqlType, read });
    reads += 1;
    return isArray(sqlType) ? `${callerAlias}.v${columns.length}::${sqlType}` : `${callerAlias}.v${columns.length}`;
  };
  const ofRequest: Parameters['ofRequest'] = (key, sqlType, read) => {
    reads += 1;
    const id = JSON.stringify([key, sqlType]);
    const sql = placed.get(id) ?? add(sqlType, ({ request }) => read(request));
    if (!placed.has(id)) places.set(id, columns.length - 1);
    placed.set(id, sql);
    return sql;
  };
  const withFixed = (fixed: Parameters['fixed']): NamedParameters<Given> => ({
    fixed,
    ofRequest,
    named: statement.named,
    member: statement.member,
    alias: statement.alias,
    get aliases() {
      return statement.aliases;
    },
    noteAccount: statement.noteAccount,
    get readsAccount() {
      return statement.readsAccount;
    },
    values: statement.values,
    valuesFrom: statement.valuesFrom,
  });

  return {
    get count() {
      return columns.length;
    },
    get reads() {
      return reads;
    },
    get types() {
      return columns.map(({ sqlType }) => sqlType);
    },
    ofRule: withFixed(statement.fixed),
    ofClient: withFixed((value, sqlType) => add(sqlType, () => value)),
    placeOfAccount: () => places.get(JSON.stringify([accountKey, 'text'])),
    recordId: () => add('text', ({ record }) => record ?? null),
    valuesOf: (values) => columns.map(({ read }) => read(values)),
  };
}

/** Whether the type is an array. Its values are passed as texts, since an array of arrays would be flattened. */
export const isArray = (sqlType: string): boolean => sqlType.endsWith('[]');
