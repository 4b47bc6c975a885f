process.stdin.resume().on('end', () => console.log('{"contextModification": "unix"}'));
