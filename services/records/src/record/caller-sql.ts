import {
  type FieldAccess,
  type NamedParameters,
  openFields,
  type Parameters,
  refusedFieldsSql,
} from '@recordbus/query';
import { type Collection, perCollection, type RuleName } from '@recordbus/schema';
import { type CompileContext, callerKind, compileRule } from '../rules/compile-rule.ts';
import { conditionalNames, isOpen, viewOf, writeOf } from '../rules/field-rules.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import type { VerdictParts } from '../rules/rule-verdict.ts';

/** The values for a run that checks field write rules. */
export interface SentNames {
  /** The members in the client's body. */
  readonly sent: readonly string[];
}

type SentParameters = Parameters & Pick<NamedParameters<SentNames>, 'named'>;

/** Aliases for the row that rules check, and for the stored row. */
interface RuleRows {
  readonly row: string;
  readonly stored?: string;
}

/** The checks and the answer in a write's statement for one kind of caller. */
export interface CallerSql {
  /** What the fields' view rules decide about the answer. */
  readonly view: FieldAccess;
  readonly context: CompileContext;
  /** Compiles a row's checks. */
  verdictOn(rows: RuleRows, parameters: SentParameters): VerdictParts;
}

/** A caller who passes every rule. */
export const openCaller: CallerSql = {
  view: openFields,
  context: { principal: { type: 'guest', rejectedToken: false }, schema: { findCollection: () => undefined } },
  verdictOn: () => ({ rule: undefined }),
};

/** A caller's write. */
interface CallersWrite {
  readonly call: RuleContext;
  /** The fields in the client's body, by name. */
  readonly sent: readonly string[];
}

/** A statement for one kind of caller, and whether it checks a rule. */
export type ForCaller<T> = T & { readonly checksRule: boolean };

/** Memoizes an action's statements by collection, kind of caller, and checks. */
export function perCaller<T extends object>(
  action: Extract<RuleName, 'create' | 'update' | 'delete'>,
  make: (collection: Collection, caller: CallerSql) => T,
): (collection: Collection, write: CallersWrite) => ForCaller<T> {
  const made = perCollection(() => new Map<string, ForCaller<T>>());
  return (collection, { call, sent }) => {
    const view = viewOf(collection, call);
    const isRuled = needsRuleCheck(collection, action, call);
    const checksFields = conditionalNames(sent, writeOf(collection, call)).length > 0;
    const isOpenTo = isOpen(view) && !isRuled && !checksFields;
    const key = isOpenTo ? '' : `${isRuled} ${checksFields} ${callerKind(call)}`;
    const known = made(collection).get(key);
    if (known) return known;
    const caller = isOpenTo ? openCaller : callerSql(collection, action, call, { view, isRuled, checksFields });
    const statement = { ...make(collection, caller), checksRule: isRuled || checksFields };
    made(collection).set(key, statement);
    return statement;
  };
}

function callerSql(
  collection: Collection,
  action: RuleName,
  { principal, schema }: CompileContext,
  { view, isRuled, checksFields }: { view: FieldAccess; isRuled: boolean; checksFields: boolean },
): CallerSql {
  const access = writeOf(collection, { principal, schema });
  return {
    view,
    context: { principal, schema },
    verdictOn(rows, parameters) {
      const into = { ...rows, parameters };
      return {
        rule: isRuled ? compileRule(collection, action, { principal, schema }, into) : undefined,
        unwritable: checksFields
          ? refusedFieldsSql({ collection, schema, principal, access, names: parameters.named('sent', 'text[]') }, into)
          : undefined,
      };
    },
  };
}
