import { defineExtension, filter, refuse } from '@recordbus/extensions';

/** Hooks for cascades, cleared relations and restores. */
export const extension = defineExtension({
  hooks: {
    '*': {
      async beforeDelete({ collection, previous }, { records }) {
        if (collection === 'grove_trees' || collection === 'grove_leaves')
          await records.create('grove_log', { entry: `${collection} ${previous?.name}` });
      },
    },
    grove_trees: {
      async beforeDelete({ id, previous }, { records }) {
        const branches = async (name: string) =>
          (await records.list('grove_branches', { filter: filter`tree = ${String(id)} && name = ${name}` })).data;
        if (previous?.name === 'moves a branch')
          for (const branch of await branches('moved'))
            await records.update('grove_branches', String(branch.id), { tree: previous.other });
        if (previous?.name === 'fells')
          for (const branch of await branches('felled')) await records.delete('grove_branches', String(branch.id));
      },
    },
    grove_branches: {
      async beforeDelete({ previous, caller }, { records }) {
        await records.create('grove_log', { entry: `branch ${previous?.name} by ${caller.type}` });
        if (previous?.name === 'moved') throw refuse(409, 'the branch stays');
        if (previous?.name === 'grows') await records.create('grove_branches', { name: 'grown', tree: previous.tree });
        if (previous?.name === 'drops leaves') {
          const { data } = await records.list('grove_leaves', { filter: filter`branch = ${String(previous.id)}` });
          for (const leaf of data) await records.delete('grove_leaves', String(leaf.id));
        }
      },
    },
    grove_leaves: {
      beforeDelete({ previous }) {
        if (previous?.name === 'stuck') throw refuse(409, 'the leaf is stuck');
      },
    },
    grove_nests: {
      beforeUpdate({ values, previous }) {
        const cleared = Object.keys(values).filter((name) => values[name] === null);
        if (cleared.length === 0) return;
        if (previous?.name === 'stays') throw refuse(423, 'the nest is in use');
        if (previous?.name === 'clings') values.tree = previous.tree;
        if (previous?.name === 'moves') values.tree = previous.spare;
        values.note = `lost ${cleared.sort().join(' and ')}`;
      },
    },
    grove_flocks: {
      beforeUpdate({ values, previous }) {
        const [left, before] = [values.trees, previous?.trees] as string[][];
        values.note = `keeps ${left?.length} of ${before?.length}`;
        if (previous?.name === 'clings') values.trees = previous.trees;
      },
    },
    grove_crews: {
      beforeUpdate({ values, previous }) {
        const [left, before] = [values.trees, previous?.trees] as string[][];
        values.note = before && left?.length === before.length - 1 ? 'lost one' : 'lost others';
      },
    },
    grove_notes: {
      beforeValidate({ values, previous }) {
        if (!previous) return;
        if (values.text === 'forgets') delete values.tags;
        if (values.text === 'reports')
          values.heard = `${values.secret}, not ${previous.secret}; ${values.pin ?? 'no pin'}`;
        if (values.text === 'longer than allowed') values.text = 'cut';
      },
      beforeUpdate({ values }) {
        if (values.text === 'refused') throw refuse(409, 'it stays as it is');
        if (values.text === 'fewer') values.papers = (values.papers as string[]).slice(1);
        if (values.text === 'strange') values.papers = ['strange_0123456789.txt'];
      },
    },
  },
});
