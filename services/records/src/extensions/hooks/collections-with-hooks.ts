import type { HookedCollections } from '@recordbus/accounts';
import type { LoadedExtension } from '@recordbus/extension-host';
import { phases } from './before-points.ts';

/** The collections with hooks that the auth service has to run. The lists may include collections without accounts. */
export function hookedCollectionsOf(extensions: readonly LoadedExtension[]): HookedCollections {
  const signIn = extensions.flatMap(({ description }) => description.signIn);
  const hooks = extensions.flatMap(({ description }) => description.hooks);
  const beforeHooksOf = (operation: 'create' | 'update') => {
    const points: readonly string[] = phases[operation].flat();
    return namesOf(hooks.filter(({ point }) => points.includes(point)));
  };
  return {
    signIn: namesOf(signIn.filter(({ point }) => point === 'before')),
    signedIn: namesOf(signIn.filter(({ point }) => point === 'after')),
    create: beforeHooksOf('create'),
    update: beforeHooksOf('update'),
  };
}

const namesOf = (listed: readonly { readonly collection: string }[]): string[] =>
  [...new Set(listed.map(({ collection }) => collection))].sort();
