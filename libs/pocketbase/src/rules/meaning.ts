import { and, type Condition, or } from './condition.ts';

/** What a rule's part says here, and where PocketBase admits more. */
export interface Meaning {
  readonly condition: Condition;
  readonly gaps: readonly Gap[];
  /** What the part asks for in both: a caller value, a field that is not empty. It closes gaps beside it. */
  readonly needs: readonly string[];
  /** What in it is most likely a mistake, though it is translated. */
  readonly mistakes?: readonly string[];
}

/** PocketBase also admits callers who lack a value. The gap is closed where one of these is needed beside it. */
export interface Gap {
  readonly why: string;
  readonly closedBy: readonly string[];
}

export const exactly = (condition: Condition, needs: readonly string[] = []): Meaning => ({
  condition,
  gaps: [],
  needs,
});

/** Needs a signed-in caller. */
export const signedIn = 'signed in';
/** Needs a field with a value. */
export const filled = (path: string) => `${path} is filled`;

export function andMeanings(items: readonly Meaning[]): Meaning {
  const needs = [...new Set(items.flatMap((item) => item.needs))];
  const gaps = items
    .flatMap((item) => item.gaps)
    .filter(({ closedBy }) => !closedBy.some((need) => needs.includes(need)));
  return { condition: and(...items.map(({ condition }) => condition)), gaps, needs, mistakes: mistakesOf(items) };
}

export function orMeanings(items: readonly Meaning[]): Meaning {
  const [first, ...others] = items;
  return {
    condition: or(...items.map(({ condition }) => condition)),
    gaps: items.flatMap(({ gaps }) => gaps),
    needs: (first?.needs ?? []).filter((need) => others.every(({ needs }) => needs.includes(need))),
    mistakes: mistakesOf(items),
  };
}

const mistakesOf = (items: readonly Meaning[]): string[] => items.flatMap(({ mistakes = [] }) => mistakes);
