import type { CollectionDefinition } from '@recordbus/client';
import { client } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';

/** The stack's collections, shared by many screens. */
class Schema {
  collections = $state.raw<readonly CollectionDefinition[]>([]);
  isLoaded = $state(false);
  problem = $state.raw<Problem>();

  async load(): Promise<void> {
    try {
      const all = await client.admin.collections.list();
      this.collections = all.toSorted((one, other) => one.name.localeCompare(other.name));
      this.problem = undefined;
      this.isLoaded = true;
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  find(name: string | undefined): CollectionDefinition | undefined {
    return this.collections.find((collection) => collection.name === name);
  }
}

export const schema = new Schema();
