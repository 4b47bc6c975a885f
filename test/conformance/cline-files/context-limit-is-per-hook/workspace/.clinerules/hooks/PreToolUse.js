process.stdin.resume().on('end', () => console.log(JSON.stringify({ contextModification: 'y'.repeat(40000) })));
