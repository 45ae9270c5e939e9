import { isConflict, type LiveList, localStorageStore, RecordbusError } from '@recordbus/client';
import { element, make } from './element.ts';
import { type SharedList, type Task, TaskApp } from './tasks.ts';

const app = new TaskApp(import.meta.env.VITE_STACK_URL, localStorageStore());
const nameKey = 'tasks-name';
const who = element('#who', HTMLElement);
const problem = element('#problem', HTMLElement);
const enter = element('#enter', HTMLFormElement);
const leave = element('#leave', HTMLButtonElement);
const work = element('#work', HTMLElement);

let lists: readonly SharedList[] = [];
let open: SharedList | undefined;
let followed: LiveList<Task> | undefined;

/** Runs the user's action, and shows the error if it fails. */
async function attempt(action: () => Promise<unknown>): Promise<void> {
  problem.textContent = '';
  try {
    await action();
  } catch (error) {
    if (isConflict(error)) problem.textContent = 'Someone else changed the task at the same time. Look, and try again.';
    else if (error instanceof RecordbusError)
      problem.textContent = [error.message, ...Object.values(error.details ?? {})].join(': ');
    else problem.textContent = error instanceof Error ? error.message : String(error);
    if (error instanceof RecordbusError && error.status === 401) await showGuest();
  }
}

async function showGuest(): Promise<void> {
  followed?.close();
  localStorage.removeItem(nameKey);
  [enter.hidden, work.hidden, leave.hidden] = [false, true, true];
  who.textContent = '';
}

async function showLists(): Promise<void> {
  [enter.hidden, work.hidden, leave.hidden] = [true, false, false];
  who.textContent = localStorage.getItem(nameKey);
  lists = await app.lists();
  await show(lists.find(({ id }) => id === open?.id) ?? lists[0]);
}

/** Shows a list, and follows its tasks. */
async function show(list: SharedList | undefined): Promise<void> {
  followed?.close();
  open = list;
  const buttons = lists.map((one) => {
    const button = make('button', { onclick: () => attempt(() => show(one)) }, one.name);
    if (one.id === list?.id) button.setAttribute('aria-current', 'true');
    return make('li', {}, button);
  });
  element('#lists', HTMLElement).replaceChildren(...buttons);
  if (!list) return;
  element('#title', HTMLElement).textContent = list.name;
  const members = list.expand.members.map(({ name }) => name).join(', ');
  element('#shared', HTMLElement).textContent =
    `Of ${list.expand.owner?.name}${members && `, shared with ${members}`}.`;
  followed = await app.follow(list);
  followed.onChange(draw);
  draw(followed.records);
}

function draw(tasks: readonly Task[]): void {
  element('#tasks', HTMLElement).replaceChildren(...tasks.map(row));
}

function row(task: Task): HTMLElement {
  const box = make('input', {
    type: 'checkbox',
    checked: task.status === 'done',
    onchange: () => attempt(() => app.toggle(task)),
  });
  const file = make('input', { type: 'file', ariaLabel: `File for ${task.title}` });
  file.onchange = () => attempt(async () => file.files?.[0] && app.attach(task, file.files[0]));
  return make(
    'li',
    { className: task.status },
    make('label', {}, box, ' ', task.title),
    task.paper === null
      ? make('label', { className: 'file' }, 'Attach a file', file)
      : make('button', { onclick: () => attempt(() => download(task)) }, 'Open the file'),
    make('button', { onclick: () => attempt(() => app.remove(task)) }, 'Remove'),
  );
}

async function download(task: Task): Promise<void> {
  const url = await app.paperUrl(task);
  if (url) make('a', { href: url }).click();
}

/** A sent form's fields. */
const fieldsOf = (event: SubmitEvent): Record<string, string> => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  return Object.fromEntries([...new FormData(form, event.submitter)].map(([name, value]) => [name, String(value)]));
};

enter.onsubmit = (event) => {
  const { name = '', email = '', password = '', action } = fieldsOf(event);
  void attempt(async () => {
    const person = action === 'up' ? await app.signUp(name, email, password) : await app.signIn(email, password);
    localStorage.setItem(nameKey, person.name);
    enter.reset();
    await showLists();
  });
};
element('#add', HTMLFormElement).onsubmit = (event) => {
  const { title = '' } = fieldsOf(event);
  const form = event.target as HTMLFormElement;
  void attempt(async () => {
    if (open) await app.addTask(open, title);
    form.reset();
  });
};
element('#share', HTMLFormElement).onsubmit = (event) => {
  const { name = '' } = fieldsOf(event);
  const form = event.target as HTMLFormElement;
  void attempt(async () => {
    if (open) await app.share(open, name);
    form.reset();
    await showLists();
  });
};
leave.onclick = () => attempt(() => app.signOut().finally(showGuest));

if (localStorage.getItem(nameKey) === null) await showGuest();
else await attempt(showLists);
