import type { RateRule } from '@recordbus/settings';

/** What a request is to the rules. */
export interface RatedRequest {
  /** Every path that the same resource has. */
  readonly paths: readonly string[];
  readonly action: RateRule['action'];
  readonly audience: 'guest' | 'auth';
}

export type ChooseRule = (request: RatedRequest) => RateRule | undefined;

/**
 * Makes the choice of the one rule that counts for a request: of those that match, one with an action before one
 * without, an exact path before the longest prefix before `*`, and of the same label one for guests or for tokens
 * before one for all (contract §7, §8).
 */
export function createChooseRule(rules: readonly RateRule[]): ChooseRule {
  const ranked = [...rules].sort((a, b) => compare(rankOf(b), rankOf(a)));
  return ({ paths, action, audience }) =>
    ranked.find(
      (rule) =>
        (rule.audience === 'all' || rule.audience === audience) &&
        (rule.action === undefined || rule.action === action) &&
        paths.some((path) => covers(rule.path, path)),
    );
}

/** `/a/*` covers `/a` and what is below it, `/a` only itself. */
function covers(pattern: string, path: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('/*')) return pattern === path;
  return path.startsWith(pattern.slice(0, -1)) || path === pattern.slice(0, -2);
}

function rankOf({ path, action, audience }: RateRule): readonly number[] {
  const isExact = !path.endsWith('*');
  return [action === undefined ? 0 : 1, isExact ? 1 : 0, path.length, audience === 'all' ? 0 : 1];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
