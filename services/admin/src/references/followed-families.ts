import type { Collection } from '@recordbus/schema';
import { type FamilyKey, findNamedKey } from '@recordbus/settings';
import { findOwnersProblem, ofOwners } from './check-owners.ts';
import { findSecondFactorProblem } from './check-second-factor-rule.ts';

/** An expression within a setting's value. */
interface Part {
  /** Its name in the value; undefined if it is the whole value. */
  readonly member: string | undefined;
  toExpression(text: string): string;
  toText(expression: string): string;
}

/** A collection's setting with expressions that name fields and collections. */
export interface FollowedFamily {
  readonly family: FamilyKey;
  readonly parts: readonly Part[];
  /** Finds why the value could not be used for the collection. */
  findProblem(value: string, collection: Collection, collections: readonly Collection[]): string | undefined;
}

const asItIs = { toExpression: (rule: string) => rule, toText: (expression: string) => expression };

/** The settings whose expressions follow renames. */
export const followedFamilies: readonly FollowedFamily[] = [
  {
    family: ofOwners,
    parts: [
      { member: 'manage_rule', ...asItIs },
      {
        // A path alone is no expression.
        member: 'mail',
        toExpression: (path) => `${path} = null`,
        toText: (expression) => expression.replace(/ = null$/, ''),
      },
    ],
    findProblem: findOwnersProblem,
  },
  {
    family: 'auth.mfa.required.<collection>',
    parts: [{ member: undefined, ...asItIs }],
    findProblem: findSecondFactorProblem,
  },
];

/** Returns a key's family; undefined for a setting without expressions. */
export const findFollowedFamily = (key: string): FollowedFamily | undefined => {
  const named = findNamedKey(key);
  return followedFamilies.find(({ family }) => family === named?.family);
};
