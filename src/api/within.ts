/** Undefined where it fails, or takes longer. */
export async function within<T>(asked: Promise<T>, patienceMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined);
  });
  const answer = await Promise.race([asked.catch(() => undefined), late]);
  clearTimeout(timer);
  return answer;
}
