cat > /dev/null
echo '{"cancel": false}'
