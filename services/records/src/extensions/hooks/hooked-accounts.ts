import type { HookedAccounts } from '@recordbus/accounts';
import type { LoadedExtension } from '@recordbus/extension-host';
import { phases } from './before-hooks.ts';

/** Which collections have hooks of extensions that are of interest to the auth service; others may be among them. */
export function hookedAccountsOf(extensions: readonly LoadedExtension[]): HookedAccounts {
  const signIn = extensions.flatMap(({ description }) => description.signIn);
  const hooks = extensions.flatMap(({ description }) => description.hooks);
  const standingBefore = (operation: 'create' | 'update') => {
    const points: readonly string[] = phases[operation].flat();
    return namesOf(hooks.filter(({ point }) => points.includes(point)));
  };
  return {
    signIn: namesOf(signIn.filter(({ point }) => point === 'before')),
    signedIn: namesOf(signIn.filter(({ point }) => point === 'after')),
    create: standingBefore('create'),
    update: standingBefore('update'),
  };
}

const namesOf = (listed: readonly { readonly collection: string }[]): string[] =>
  [...new Set(listed.map(({ collection }) => collection))].sort();
