/** Downloads bytes as a file. */
export function saveFile(name: string, bytes: Blob): void {
  const address = URL.createObjectURL(bytes);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  // The browser reads the blob after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
