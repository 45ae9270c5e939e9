/** Leaves out characters that look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const groups = 5;
const perGroup = 5;

/** Returns a random 145-bit password, in groups that are easy to read aloud. */
export function newPassword(): string {
  const characters = Array.from({ length: groups * perGroup }, randomCharacter).join('');
  return (characters.match(new RegExp(`.{${perGroup}}`, 'g')) ?? []).join('-');
}

function randomCharacter(): string {
  const largest = 256 - (256 % alphabet.length);
  for (;;) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < largest) return alphabet.charAt(byte % alphabet.length);
  }
}
