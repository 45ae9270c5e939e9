import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from './harness/clients/client.ts';
import { readTutorial } from './harness/docs/tutorial-page.ts';
import { checkStep, startReader } from './harness/docs/tutorial-walk.ts';
import { eventually } from './harness/eventually.ts';
import { listAt, numberAt, textAt } from './harness/json.ts';
import { findFreePort } from './harness/processes/free-port.ts';
import { nameComposeProject, skipWithoutDocker } from './harness/servers/compose-project.ts';

/** Most of it goes into the image build, which downloads the base images and the dependencies. */
const patienceMs = 480_000;

test('the tutorial leads from an empty clone to a deployment', { skip: skipWithoutDocker }, async (t) => {
  const tutorial = readTutorial();
  await using reader = await startReader(tutorial);
  const port = await findFreePort();
  await using project = nameComposeProject(reader.clone, port);
  const outputs = await reader.run(tutorial.steps, { patienceMs, environment: project.environment });
  for (const [index, step] of tutorial.steps.entries())
    await t.test(`docs/tutorial.md: ${step.commands.split('\n')[0]}`, () => checkStep(step, outputs[index]));

  const url = `http://127.0.0.1:${port}`;
  const credentials = { email: 'you@example.com', password: 'correct horse battery' };
  const signIn = () => createClient(url).post('/api/v1/admin/login', credentials, 200);
  const admin = createClient(url, textAt(await eventually('the deployment answers', signIn), 'token'));

  await t.test('the deployment has the collections', async () => {
    const collections = listAt((await admin.get('/api/v1/collections')).json, 'data');
    const names = collections.map((collection) => textAt(collection, 'name'));
    assert.deepEqual(names.sort(), ['comments', 'labels', 'members', 'orgs', 'projects', 'tasks', 'users']);
  });

  await t.test('the deployment has the hook', async () => {
    const org = await admin.create('orgs', { name: 'Difference Engines' });
    const project = await admin.create('projects', { org: org.id, name: 'The first' });
    const task = await admin.create('tasks', { project: project.id, title: 'Turn the crank' });
    const done = await admin.patch(`/api/v1/records/tasks/${task.id}`, { status: 'done' });
    assert.ok(numberAt(done, 'closed') > 0);
  });
});
