import { print } from './condition.ts';
import type { Directory, PocketBaseCollection } from './definitions.ts';
import { createTranslator, findNames } from './expression.ts';
import type { Meaning } from './meaning.ts';
import { parsePocketBase } from './parse.ts';
import type { Slot } from './side.ts';
import { PocketBaseSyntaxError } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** A rule's translation. */
export interface TranslatedRule {
  /** The collection's name in PocketBase. */
  readonly collection: string;
  /** The rule's name here: `list_rule`. */
  readonly rule: string;
  /** PocketBase's text. Null admits superusers only, `""` everyone. */
  readonly from: string | null;
  /** Ours. Null admits everyone, `""` admins only. */
  readonly to: string | null;
  readonly result: 'exact' | 'narrower' | 'locked';
  /** Why it is narrower or locked, or what else to know; null for nothing. */
  readonly why: string | null;
}

export type RuleSlot = Exclude<Slot, 'filter'>;

const ruleNames: Readonly<Record<RuleSlot, string>> = {
  list: 'list_rule',
  view: 'view_rule',
  create: 'create_rule',
  update: 'update_rule',
  delete: 'delete_rule',
  manage: 'manageRule',
  auth: 'sign_in_rule',
  field: 'field rule',
};

const maxCharacters = 4000;

/** Translates a rule. What cannot be said exactly is locked, and no rule admits more callers than before. */
export function translateRule(
  from: string | null,
  slot: RuleSlot,
  collection: PocketBaseCollection,
  directory: Directory,
): TranslatedRule {
  const rule = { collection: collection.name, rule: ruleNames[slot], from };
  // An empty manageRule admits no one in PocketBase.
  if (from === null || (from === '' && slot === 'manage')) return { ...rule, to: '', result: 'exact', why: null };
  if (from === '') return { ...rule, to: null, result: 'exact', why: null };
  try {
    const near = (why: string) => {
      throw new Untranslatable(why);
    };
    const meaning = meaningOf(from, { collection, directory, slot, near });
    return { ...rule, ...resultOf(meaning) };
  } catch (error) {
    if (!(error instanceof Untranslatable) && !(error instanceof PocketBaseSyntaxError)) throw error;
    return { ...rule, to: '', result: 'locked', why: error.message };
  }
}

function meaningOf(text: string, scope: Parameters<typeof createTranslator>[0]): Meaning {
  const meaning = createTranslator(scope)(findNames(parsePocketBase(text), scope));
  if (print(meaning.condition).length > maxCharacters) throw new Untranslatable('longer than a rule may be');
  return meaning;
}

function resultOf({ condition, gaps, mistakes = [] }: Meaning): Pick<TranslatedRule, 'to' | 'result' | 'why'> {
  const isNever = condition === 'never' && gaps.length === 0;
  const reasons = [
    ...gaps.map((gap) => gap.why),
    ...(isNever ? ['never holds in PocketBase either'] : []),
    ...mistakes,
  ];
  const why = reasons.length === 0 ? null : [...new Set(reasons)].join('; ');
  if (condition === 'never' && !isNever) return { to: '', result: 'locked', why };
  return { to: print(condition), result: gaps.length > 0 ? 'narrower' : 'exact', why };
}

/** A client's filter that our language cannot say, with the reason for the client. */
export class UntranslatableFilter extends Error {}

/**
 * Translates a client's filter. It only narrows what the rules admit, so differences in letters and kinds that a rule may
 * not have are fine here. `@collection` and `@request` are refused. Throws UntranslatableFilter.
 */
export function translateFilter(text: string, collection: PocketBaseCollection, directory: Directory): string {
  try {
    return print(meaningOf(text, { collection, directory, slot: 'filter', near: () => undefined }).condition);
  } catch (error) {
    if (!(error instanceof Untranslatable) && !(error instanceof PocketBaseSyntaxError)) throw error;
    throw new UntranslatableFilter(error.message);
  }
}
