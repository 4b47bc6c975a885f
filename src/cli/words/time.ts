/** A moment as a person's own clock and calendar say it: `2026-11-16 14:05`; `?` when it is not known. */
export function localTime(ms: number): string {
  const date = new Date(ms);
  if (ms === 0 || Number.isNaN(date.getTime())) return '?';
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes()].map(twoDigits).join(':')}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
