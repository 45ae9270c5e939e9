import { validationFailed } from '@recordbus/errors';
import { type Collection, type Field, fieldTypeOf } from '@recordbus/schema';
import {
  collectionFamilies,
  findNamedKey,
  type ProfileMember,
  type SettingsPatch,
  settingFamilies,
} from '@recordbus/settings';

/** Throws 422 that names each key without an auth collection and each profile map with unsuitable fields. */
export function checkCollectionsOf(patch: SettingsPatch, collections: readonly Collection[]): void {
  const problems: Record<string, string> = {};
  for (const [key, text] of Object.entries(patch)) {
    const named = findNamedKey(key);
    if (!named || !collectionFamilies.includes(named.family)) continue;
    const collection = collections.find(({ name, type }) => name === named.name && type === 'auth');
    if (!collection) problems[key] = `there is no auth collection ${named.name}`;
    else if (named.family === 'oauth2.profile.<collection>' && text !== '') {
      const problem = findProfileProblem(text, collection);
      if (problem) problems[key] = problem;
    }
  }
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
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
