import assert from 'node:assert/strict';
import { createClient, isConflict, RecordbusError } from '@recordbus/client';
import { TaskApp } from '@recordbus/tasks-example/app';
import { startTaskReceiver } from '@recordbus/tasks-example/receiver';
import { applySchema, connect, people, seed } from '@recordbus/tasks-example/set-up';
import type { Schema } from '@recordbus/tasks-example/types';
import { eventually } from './harness/eventually.ts';
import { firstAdmin } from './harness/stacks/stack.ts';
import { onNewStacks, onOneProcess } from './harness/stacks/target.ts';

onNewStacks('the example has its own names');

onOneProcess('examples/tasks: people share a list that follows every change', async (t, target) => {
  await target.admin();
  const admin = createClient<Schema>(target.url);
  await admin.admin.login(firstAdmin);
  const lines: string[] = [];
  await using receiver = await startTaskReceiver((line) => lines.push(line));
  await applySchema(admin);
  receiver.verifyWith(await connect(admin, 'http://127.0.0.1:5173', receiver.url));
  assert.equal(await seed(target.url), true);
  const [ada, ben] = people;
  const [ofAda, ofBen] = [new TaskApp(target.url), new TaskApp(target.url)];
  assert.equal((await ofAda.signIn(ada.email, ada.password)).name, 'ada');
  await ofBen.signIn(ben.email, ben.password);
  const [list] = await ofAda.lists();
  assert.ok(list);

  await t.test('applying and seeding again changes nothing', async () => {
    await applySchema(admin);
    assert.equal(await seed(target.url), false);
    assert.equal((await ofAda.lists()).length, 1);
  });

  await t.test('a member sees the list, its owner and its tasks; a stranger sees nothing', async () => {
    const [shared] = await ofBen.lists();
    assert.equal(shared?.expand.owner?.name, 'ada');
    const cleo = new TaskApp(target.url);
    await cleo.signUp('cleo', 'cleo@example.com', 'a long password');
    assert.deepEqual(
      (await cleo.lists()).map(({ name }) => name),
      ["cleo's tasks"],
    );
    const tasks = await cleo.follow(list);
    assert.deepEqual(tasks.records, []);
    await assert.rejects(cleo.addTask(list, 'mine'), (error: RecordbusError) => error.status === 403);
    await assert.rejects(ofAda.share(list, 'nobody'), /Nobody here has the name nobody/);

    await ofAda.share(list, 'cleo');
    await eventually('her list has the tasks', () => tasks.records.length === 2);
    assert.equal((await cleo.lists()).length, 2);
    tasks.close();
  });

  await t.test('what one adds, ticks and removes, the other sees', async () => {
    const seen = await ofBen.follow(list);
    const titles = () => seen.records.map(({ title, status }) => `${title} ${status}`);
    assert.deepEqual(titles(), ['Oil the gears open', 'Punch the cards open']);
    const task = await ofAda.addTask(list, 'Write the note');
    await eventually('the task is there', () => titles().includes('Write the note open'));
    await ofAda.toggle(task);
    await eventually('it is ticked', () => titles().includes('Write the note done'));
    // Ben's page still shows the old task. He sees the conflict, and nothing is lost.
    await assert.rejects(ofBen.toggle({ ...task }), isConflict);
    await ofBen.remove(task);
    await eventually('it is gone', () => titles().length === 2);
    seen.close();
  });

  await t.test('only members can read a file', async () => {
    const task = await ofAda.addTask(list, 'Read the paper');
    await ofAda.attach(task, new File(['the text of the paper'], 'paper.txt', { type: 'text/plain' }));
    const seen = await ofBen.follow(list);
    const withPaper = await eventually('the file is there', () =>
      seen.records.find(({ paper, title }) => title === 'Read the paper' && paper !== null),
    );
    seen.close();
    const url = await ofBen.paperUrl(withPaper);
    assert.equal(await (await fetch(String(url))).text(), 'the text of the paper');
    const withoutToken = await fetch(String(url).replace(/[?&]token=[^&]*/, ''));
    assert.ok(withoutToken.status >= 400, String(withoutToken.status));
    await withoutToken.body?.cancel();
    const stranger = new TaskApp(target.url);
    await assert.rejects(stranger.paperUrl(withPaper), (error) => error instanceof RecordbusError);
  });

  await t.test('the receiver prints verified deliveries, each once', async () => {
    await eventually('the deliveries are there', () => lines.some((line) => line.startsWith('tasks.delete')));
    assert.ok(lines.includes('tasks.create: Write the note (open)'), lines.join('\n'));
    assert.equal(lines.filter((line) => line === 'tasks.create: Write the note (open)').length, 1);
    const forged = await fetch(receiver.url, { method: 'POST', body: '{"event":"tasks.create","data":null}' });
    assert.equal(forged.status, 401);
  });
});
