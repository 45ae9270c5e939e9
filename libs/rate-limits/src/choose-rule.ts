import type { RateRule } from '@recordbus/settings';

/** The request properties that rules match. */
export interface RatedRequest {
  /** Every path to the same resource. */
  readonly paths: readonly string[];
  readonly action: RateRule['action'];
  readonly audience: 'guest' | 'auth';
  /** The label on the service key that sends it, if it has one. */
  readonly label?: string | undefined;
}

export type ChooseRule = (request: RatedRequest) => RateRule | undefined;

/**
 * Creates the function that chooses the one rule for a request. Among the matching rules, one with an action beats one
 * without, an exact path beats the longest prefix, which beats `*`, and for the same label an audience of guests or
 * tokens beats all (http §8.5, §8.6). Rules for a service key's label beat all rules without a label, and apply to no
 * other caller (keys §6).
 */
export function createChooseRule(rules: readonly RateRule[]): ChooseRule {
  const ranked = [...rules].sort((a, b) => compare(rankOf(b), rankOf(a)));
  const find = ({ paths, action, audience }: RatedRequest, label: string | undefined): RateRule | undefined =>
    ranked.find(
      (rule) =>
        rule.keyLabel === label &&
        (rule.audience === 'all' || rule.audience === audience) &&
        (rule.action === undefined || rule.action === action) &&
        paths.some((path) => covers(rule.path, path)),
    );
  return (request) =>
    (request.label === undefined ? undefined : find(request, request.label)) ?? find(request, undefined);
}

/** `/a/*` covers `/a` and every path below it; `/a` covers only itself. */
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
