import { is } from '../harness/matching.ts';
import { type Caller, runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createTags } from './tagged-posts.ts';

onEachTopology('expand shows a list of records', async (t, target) => {
  const { admin, tags } = await createTags(target);
  const [a, b, , hidden] = tags;
  const nextOf = { ...a, ...(await admin.patch(`/api/v1/tags/${a?.id}`, { next: b?.id })) };
  const safe = await admin.create('safes', { name: 'safe' });
  const post = await admin.create('posts', {
    title: 'one',
    tags: [b?.id, hidden?.id, a?.id],
    safes: [safe.id],
    two: [hidden?.id],
  });
  const bare = await admin.create('posts', { title: 'two' });
  const shows = (name: string, request: string, data: unknown, as: Caller = 'guest'): Scenario => ({
    name,
    as,
    request: `GET /api/v1/${request}`,
    expect: { status: 200, json: Array.isArray(data) ? is.containing({ data }) : { data } },
    spec: 'records §10.2',
  });
  await runScenarios(t, target, [
    shows('the targets that the caller may view, in the order of the list', `posts/${post.id}?expand=tags`, {
      ...post,
      expand: { tags: [b, nextOf] },
    }),
    shows(
      'all targets for an admin',
      `posts/${post.id}?expand=tags`,
      { ...post, expand: { tags: [b, hidden, nextOf] } },
      'admin',
    ),
    shows('empty lists', `posts/${bare.id}?expand=tags,posts`, { ...bare, expand: { tags: [], posts: [] } }),
    shows('a list without a target that the caller may view', `posts/${post.id}?expand=two`, {
      ...post,
      expand: { two: [] },
    }),
    shows('targets for admins only', `posts/${post.id}?expand=safes`, { ...post, expand: { safes: [] } }, 'user'),
    shows('the same for an admin', `posts/${post.id}?expand=safes`, { ...post, expand: { safes: [safe] } }, 'admin'),
    shows('targets of targets', `posts/${post.id}?expand=tags.next`, {
      ...post,
      expand: {
        tags: [
          { ...b, expand: {} },
          { ...nextOf, expand: { next: b } },
        ],
      },
    }),
    shows('a page', 'posts?sort=title&expand=tags&fields=title,expand.tags.name', [
      {
        id: post.id,
        title: 'one',
        expand: {
          tags: [
            { id: b?.id, name: 'b' },
            { id: a?.id, name: 'a' },
          ],
        },
      },
      { id: bare.id, title: 'two', expand: { tags: [] } },
    ]),
    shows('fields without the list', `posts/${post.id}?expand=tags&fields=title`, { id: post.id, title: 'one' }),
  ]);
});
