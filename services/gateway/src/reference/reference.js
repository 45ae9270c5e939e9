// Replaces the content of the page with what the holder of a token may see. The token is not stored.
const form = document.querySelector('form');

form.hidden = false;
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const token = form.querySelector('input').value.trim();
  const answer = await fetch('/docs', { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.querySelector('nav').replaceChildren(...page.querySelector('nav').childNodes);
  for (const section of document.querySelectorAll('section')) section.remove();
  form.after(...page.querySelectorAll('section'));
});
