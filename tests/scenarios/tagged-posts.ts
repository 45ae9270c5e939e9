import type { Target } from '../harness/stacks/target.ts';

/** A relation to several records. */
export const several = (name: string, collection: string, options: object = {}, more: object = {}) => ({
  name,
  type: 'relation',
  collection,
  options: { multiple: true, ...options },
  ...more,
});
const text = (name: string) => ({ name, type: 'text' });

/** Defines posts with tag lists, and some tags, the last of which guests may not view. */
export async function createTags(target: Target) {
  const admin = await target.admin();
  await admin.define('tags', [text('name'), { name: 'next', type: 'relation', collection: 'tags' }], {
    view_rule: 'name != "hidden"',
  });
  await admin.define('safes', [text('name')], { view_rule: '' });
  await admin.define('posts', [
    text('title'),
    several('tags', 'tags'),
    several('two', 'tags', { max: 2 }),
    several('safes', 'safes'),
    several('posts', 'posts'),
  ]);
  await admin.define('strict', [several('tags', 'tags', {}, { required: true })]);
  const tags = [];
  for (const name of ['a', 'b', 'c', 'hidden']) tags.push(await admin.create('tags', { name }));
  return { admin, tags };
}
