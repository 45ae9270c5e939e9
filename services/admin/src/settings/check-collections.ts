import { validationFailed } from '@recordbus/errors';
import { type Collection, type Field, fieldTypeOf, findIdentityProblem } from '@recordbus/schema';
import {
  collectionFamilies,
  type FamilyKey,
  findNamedKey,
  type ProfileMember,
  type SettingsPatch,
  settingFamilies,
} from '@recordbus/settings';
import { ofOwners } from '../references/check-owners.ts';
import { findFollowedFamily } from '../references/followed-families.ts';
import { findLocaleProblem } from './locale-field.ts';

/** Throws 422 that names each key without a suitable collection, and each with unsuitable fields or rules. */
export function checkCollectionsOf(patch: SettingsPatch, collections: readonly Collection[]): void {
  const problems: Record<string, string> = {};
  for (const [key, text] of Object.entries(patch)) {
    const named = findNamedKey(key);
    if (!named || !collectionFamilies.includes(named.family)) continue;
    const isOfOwners = named.family === ofOwners;
    const collection = collections.find(
      ({ name, type }) => name === named.name && (isOfOwners ? type !== 'view' : type === 'auth'),
    );
    if (!collection) problems[key] = `there is no ${isOfOwners ? 'base or auth' : 'auth'} collection ${named.name}`;
    else if (text !== '') {
      const problem =
        findFieldProblem(named.family, text, collection) ??
        findFollowedFamily(key)?.findProblem(text, collection, collections);
      if (problem !== undefined) problems[key] = problem;
    }
  }
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
}

/** Finds a field in the text that the collection lacks, or that does not suit the setting. */
function findFieldProblem(family: FamilyKey, text: string, collection: Collection): string | undefined {
  if (family === 'oauth2.profile.<collection>') return findProfileProblem(text, collection);
  if (family === 'mail.locale_field.<collection>') return findLocaleProblem(collection, text);
  if (family !== 'auth.identity.<collection>') return undefined;
  const names = settingFamilies[family].schema.parse(text);
  return names.flatMap((name) => findIdentityProblem(collection, name) ?? [])[0];
}

function findProfileProblem(text: string, { fields }: Collection): string | undefined {
  const map = settingFamilies['oauth2.profile.<collection>'].schema.parse(text);
  for (const [name, member] of Object.entries(map)) {
    const field = fields.find((one) => one.name === name);
    if (!field) return `there is no field "${name}"`;
    if (field.system) return `"${name}" cannot be set from a profile`;
    if (!takes(field, member)) return `a ${field.type} field does not take ${member}`;
  }
  return undefined;
}

function takes(field: Field, member: ProfileMember): boolean {
  if (field.type === 'file') return member === 'avatar_url';
  const { filterKind, emptyTextIsNull } = fieldTypeOf(field);
  const kind = filterKind(field);
  if (member === 'email_verified') return kind === 'bool';
  // Among the types with texts, only those with free text store the empty one.
  return kind === 'text' && !emptyTextIsNull;
}
